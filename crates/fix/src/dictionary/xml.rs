//! Dictionary files in QuickFIX's XML format. Every error is reported with its line.

use super::spec::{DictionarySpec, FieldSpec, Item, MessageSpec};
use crate::dictionary::spec::FieldType;
use crate::tag::Tag;
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::fmt;

/// Components may contain components; a deeper nesting means a cycle.
const COMPONENT_DEPTH_MAX: usize = 16;

/// What is wrong with a dictionary file, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryError {
    pub line: u32,
    pub reason: String,
}

impl fmt::Display for DictionaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for DictionaryError {}

type Result<T> = std::result::Result<T, DictionaryError>;

pub(super) fn read(text: &str) -> Result<DictionarySpec> {
    let document = Document::parse(text)
        .map_err(|error| DictionaryError { line: error.pos().row, reason: format!("not XML: {error}") })?;
    let root = document.root_element();
    let fields = section(root, "fields")?;
    let reader = Reader { tags: tags_by_name(fields)?, components: components_by_name(root)? };
    Ok(DictionarySpec {
        version: version(root)?,
        fields: elements(fields).map(field).collect::<Result<_>>()?,
        header: reader.items(section(root, "header")?, true, 0)?,
        trailer: reader.items(section(root, "trailer")?, true, 0)?,
        messages: elements(section(root, "messages")?).map(|node| reader.message(node)).collect::<Result<_>>()?,
    })
}

/// Names of one file, resolved.
struct Reader<'a> {
    tags: BTreeMap<&'a str, Tag>,
    components: BTreeMap<&'a str, Node<'a, 'a>>,
}

impl<'a> Reader<'a> {
    fn message(&self, node: Node<'a, 'a>) -> Result<MessageSpec> {
        Ok(MessageSpec { msg_type: attribute(node, "msgtype")?.to_owned(), items: self.items(node, true, 0)? })
    }

    /// The items below a node, components expanded; within an optional component nothing is required.
    fn items(&self, parent: Node<'a, 'a>, parent_required: bool, depth: usize) -> Result<Vec<Item>> {
        if depth > COMPONENT_DEPTH_MAX {
            return Err(error_at(parent, "components hold each other".to_owned()));
        }
        let mut items = Vec::new();
        for node in elements(parent) {
            let name = attribute(node, "name")?;
            let required = parent_required && node.attribute("required") == Some("Y");
            let tag =
                || self.tags.get(name).copied().ok_or_else(|| error_at(node, format!("no field is named {name}")));
            match node.tag_name().name() {
                "field" => items.push(Item { tag: tag()?, required, members: None }),
                "group" => {
                    let members = Some(self.items(node, true, depth + 1)?);
                    items.push(Item { tag: tag()?, required, members });
                }
                "component" => items.extend(self.items(self.component(node, name)?, required, depth + 1)?),
                other => return Err(error_at(node, format!("<{other}> is no field, group or component"))),
            }
        }
        Ok(items)
    }

    fn component(&self, node: Node<'a, 'a>, name: &str) -> Result<Node<'a, 'a>> {
        self.components.get(name).copied().ok_or_else(|| error_at(node, format!("no component is named {name}")))
    }
}

fn version(root: Node<'_, '_>) -> Result<String> {
    let service_pack = match root.attribute("servicepack") {
        None | Some("0" | "") => String::new(),
        Some(number) => format!("SP{number}"),
    };
    let kind = root.attribute("type").unwrap_or("FIX");
    Ok(format!("{kind}.{}.{}{service_pack}", attribute(root, "major")?, attribute(root, "minor")?))
}

fn tags_by_name<'a>(fields: Node<'a, 'a>) -> Result<BTreeMap<&'a str, Tag>> {
    elements(fields).map(|node| Ok((attribute(node, "name")?, tag_of(node)?))).collect()
}

/// Older files have no components at all.
fn components_by_name<'a>(root: Node<'a, 'a>) -> Result<BTreeMap<&'a str, Node<'a, 'a>>> {
    let section = elements(root).find(|node| node.has_tag_name("components"));
    section.into_iter().flat_map(elements).map(|node| Ok((attribute(node, "name")?, node))).collect()
}

fn field(node: Node<'_, '_>) -> Result<FieldSpec> {
    let values = elements(node).map(|value| attribute(value, "enum").map(str::to_owned)).collect::<Result<_>>()?;
    Ok(FieldSpec { tag: tag_of(node)?, kind: FieldType::from_name(attribute(node, "type")?), values })
}

fn tag_of(node: Node<'_, '_>) -> Result<Tag> {
    let number = attribute(node, "number")?;
    number.parse().ok().filter(|tag| *tag > 0).ok_or_else(|| error_at(node, format!("number=\"{number}\" is no tag")))
}

fn section<'a>(root: Node<'a, 'a>, name: &str) -> Result<Node<'a, 'a>> {
    elements(root).find(|node| node.has_tag_name(name)).ok_or_else(|| error_at(root, format!("there is no <{name}>")))
}

fn elements<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(Node::is_element)
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str> {
    node.attribute(name).ok_or_else(|| error_at(node, format!("<{}> has no {name}", node.tag_name().name())))
}

fn error_at(node: Node<'_, '_>, reason: String) -> DictionaryError {
    DictionaryError { line: node.document().text_pos_at(node.range().start).row, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> String {
        read(text).map(|spec| format!("{spec:?}")).unwrap_or_else(|error| error.to_string())
    }

    fn file(body: &str, components: &str, fields: &str) -> String {
        format!(
            "<fix major='4' minor='4'>\n<header/><trailer/>\n<messages><message name='M' msgtype='U1'>{body}</message></messages>\n\
             <components>{components}</components>\n<fields>{fields}</fields></fix>"
        )
    }

    #[test]
    fn a_wrong_file_is_refused_with_line_and_reason() {
        assert_eq!(
            complaint("<fix major='4' minor='4'>"),
            "line 1: not XML: the root node was opened but never closed"
        );
        assert_eq!(complaint("<fix major='4' minor='4'/>"), "line 1: there is no <fields>");
        assert_eq!(complaint(&file("<field name='A'/>", "", "")), "line 3: no field is named A");
        assert_eq!(complaint(&file("<component name='A'/>", "", "")), "line 3: no component is named A");
        assert_eq!(complaint(&file("<fields name='A'/>", "", "")), "line 3: <fields> is no field, group or component");
        assert_eq!(
            complaint(&file("", "", "<field name='A' number='x' type='INT'/>")),
            "line 5: number=\"x\" is no tag"
        );
        assert_eq!(complaint(&file("", "", "<field name='A' number='1'/>")), "line 5: <field> has no type");
        let circle = "<component name='C'><component name='C' required='Y'/></component>";
        assert_eq!(complaint(&file("<component name='C'/>", circle, "")), "line 4: components hold each other");
    }

    #[test]
    fn what_an_optional_component_requires_is_optional() {
        let fields = "<field name='A' number='1' type='INT'/>";
        let spec = read(&file(
            "<component name='C' required='N'/>",
            "<component name='C'><field name='A' required='Y'/></component>",
            fields,
        ));
        assert!(!spec.unwrap().messages[0].items[0].required);
    }
}
