//! Modules of a crate and which of them use which, by the paths in their text. Re-exports are followed to the module that
//! defines the name; a module that only re-exports what its children define does not depend on them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::rust_paths::{UsedPath, used_paths};
use crate::tree::Tree;

/// Longest chain of re-exports that is followed.
const REEXPORTS_MAX: usize = 8;

type ModulePath = Vec<String>;

/// The modules of one crate, without its tests.
#[derive(Debug, Default)]
pub(crate) struct ModuleGraph {
    /// The file of each module.
    files: BTreeMap<ModulePath, String>,
    used: BTreeMap<ModulePath, BTreeSet<ModulePath>>,
}

impl ModuleGraph {
    pub(crate) fn read(tree: &Tree, name: &str) -> Self {
        let mut texts = module_texts(tree, name);
        let tests: Vec<ModulePath> = texts.iter().flat_map(|(module, text)| text.tests(module)).collect();
        texts.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        let files = texts.iter().map(|(module, text)| (module.clone(), text.file.clone())).collect();
        let resolver = PathResolver::new(&texts);
        let used = texts.iter().map(|(module, text)| (module.clone(), resolver.dependencies(module, text))).collect();
        Self { files, used }
    }

    /// One shortest cycle for each group of modules that use each other, as files.
    pub(crate) fn cycles(&self) -> Vec<Vec<&str>> {
        let mut seen = BTreeSet::new();
        let mut cycles = Vec::new();
        for module in self.files.keys() {
            if seen.contains(module) {
                continue;
            }
            if let Some(cycle) = self.shortest_cycle(module) {
                seen.extend(self.files.keys().filter(|other| self.are_mutual(module, other)).cloned());
                cycles.push(cycle.iter().filter_map(|module| self.files.get(module)).map(String::as_str).collect());
            }
        }
        cycles
    }

    fn are_mutual(&self, one: &ModulePath, other: &ModulePath) -> bool {
        self.way(one, other).is_some() && self.way(other, one).is_some()
    }

    fn shortest_cycle(&self, module: &ModulePath) -> Option<Vec<ModulePath>> {
        self.way(module, module)
    }

    /// The shortest way from one module to another by at least one use.
    fn way(&self, from: &ModulePath, to: &ModulePath) -> Option<Vec<ModulePath>> {
        let mut came_from: BTreeMap<&ModulePath, &ModulePath> = BTreeMap::new();
        let mut reached = VecDeque::from([from]);
        while let Some(module) = reached.pop_front() {
            for next in self.used.get(module).into_iter().flatten() {
                if came_from.contains_key(next) {
                    continue;
                }
                came_from.insert(next, module);
                if next == to {
                    return Some(way_back(&came_from, from, to));
                }
                reached.push_back(next);
            }
        }
        None
    }
}

fn way_back(came_from: &BTreeMap<&ModulePath, &ModulePath>, from: &ModulePath, to: &ModulePath) -> Vec<ModulePath> {
    let mut way = vec![to.clone()];
    let mut module = to;
    while let Some(before) = came_from.get(module) {
        way.push((*before).clone());
        if *before == from {
            break;
        }
        module = before;
    }
    way.reverse();
    way
}

struct ModuleText {
    file: String,
    paths: Vec<UsedPath>,
    test_modules: Vec<String>,
}

impl ModuleText {
    fn tests(&self, module: &[String]) -> Vec<ModulePath> {
        self.test_modules.iter().map(|name| module.iter().chain([name]).cloned().collect()).collect()
    }
}

fn module_texts(tree: &Tree, name: &str) -> BTreeMap<ModulePath, ModuleText> {
    let folder = format!("crates/{name}/src/");
    let sources = tree.texts().filter_map(|file| {
        let module = module_path(file.path.strip_prefix(&folder)?.strip_suffix(".rs")?);
        let (paths, test_modules) = used_paths(&file.text);
        Some((module, ModuleText { file: file.path.clone(), paths, test_modules }))
    });
    sources.collect()
}

/// `a/mod.rs` and `a.rs` are the module `a`, the root has an empty path.
fn module_path(file: &str) -> ModulePath {
    let mut path: ModulePath = file.split('/').map(ToOwned::to_owned).collect();
    if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

struct PathResolver<'a> {
    modules: BTreeSet<&'a ModulePath>,
    /// By module and name: where a re-exported name is found.
    reexports: BTreeMap<(ModulePath, String), ModulePath>,
}

impl<'a> PathResolver<'a> {
    fn new(texts: &'a BTreeMap<ModulePath, ModuleText>) -> Self {
        let mut resolver = Self { modules: texts.keys().collect(), reexports: BTreeMap::new() };
        for (module, text) in texts {
            for path in text.paths.iter().filter(|path| path.is_reexport) {
                if let (Some(target), Some(name)) = (resolver.absolute(module, &path.segments), path.segments.last()) {
                    resolver.reexports.insert((module.clone(), name.clone()), target);
                }
            }
        }
        resolver
    }

    fn dependencies(&self, module: &ModulePath, text: &ModuleText) -> BTreeSet<ModulePath> {
        let mut used = BTreeSet::new();
        for path in &text.paths {
            let Some(target) = self.absolute(module, &path.segments).and_then(|full| self.definition(&full)) else {
                continue;
            };
            if target != *module && !(path.is_reexport && target.starts_with(module)) {
                used.insert(target);
            }
        }
        used
    }

    /// The path from the root of the crate; none for a path of another crate.
    fn absolute(&self, module: &ModulePath, segments: &[String]) -> Option<ModulePath> {
        let (mut base, mut rest) = (module.clone(), segments);
        match segments.first()?.as_str() {
            "crate" => (base, rest) = (vec![], &segments[1..]),
            "self" => rest = &segments[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                base.push(child.to_owned());
                self.modules.get(&base)?;
                rest = &segments[1..];
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// The module that defines what the path names.
    fn definition(&self, full: &[String]) -> Option<ModulePath> {
        let mut full = full.to_vec();
        for _ in 0..REEXPORTS_MAX {
            let length = (0..=full.len()).rev().find(|length| self.modules.contains(&full[..*length].to_vec()))?;
            let (module, rest) = (full[..length].to_vec(), full[length..].to_vec());
            let Some(target) = rest.first().and_then(|name| self.reexports.get(&(module.clone(), name.clone()))) else {
                return Some(module);
            };
            full = target.iter().cloned().chain(rest.into_iter().skip(1)).collect();
        }
        None
    }
}
