#!/usr/bin/env python3
"""What Rialto is built from: `make audit`.

Compares every Cargo.lock with the stored advisories, every licence with deny.toml, and writes a bill of materials.
`audit.py advisories [LOCK…]` only compares lock files with the advisories.
`audit.py refresh CLONE` makes the stored advisories anew from a clone of RustSec's advisory-db.
Needs only Python's standard library, and no network.
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
ADVISORIES = ROOT / "supply-chain" / "advisories.json"
DENY = ROOT / "deny.toml"
STALE_DAYS = 90


def lock_packages(lock):
    """Name, version and source of each package of a Cargo.lock."""
    found = []
    for block in lock.read_text().split("[[package]]")[1:]:
        fields = dict(re.findall(r'^(name|version|source) = "(.*)"$', block, re.M))
        found.append((fields["name"], fields["version"], fields.get("source")))
    return found


def parse(version):
    core, _, pre = version.split("+")[0].partition("-")
    numbers = [int(part) for part in core.split(".")] + [0, 0]
    # A pre-release is below its release.
    return tuple(numbers[:3]), (0, pre) if pre else (1, "")


def ceiling(mark, text):
    """The first version that `^text` or `~text` does not allow."""
    given = [int(part) for part in text.split("-")[0].split(".")]
    numbers = (given + [0, 0])[:3]
    if mark == "~":
        place = min(len(given) - 1, 1)
    else:
        place = next((at for at, number in enumerate(numbers) if number), len(given) - 1)
    return tuple(numbers[:place] + [numbers[place] + 1] + [0] * (2 - place)), (0, "")


def allows(requirement, version):
    mark, text = re.fullmatch(r"\s*(>=|<=|>|<|=|\^|~|)\s*([0-9A-Za-z.+-]+)\s*", requirement).groups()
    wanted, version = parse(text), parse(version)
    if mark in ("^", "~", ""):
        return wanted <= version < ceiling(mark, text)
    return {">=": version >= wanted, "<=": version <= wanted, ">": version > wanted, "<": version < wanted,
            "=": version == wanted}[mark]


def is_affected(advisory, version):
    ranges = advisory["patched"] + advisory["unaffected"]
    return not any(all(allows(part, version) for part in one.split(",")) for one in ranges)


def check_advisories(locks):
    stored = json.loads(ADVISORIES.read_text())
    by_package = {}
    for advisory in stored["advisories"]:
        by_package.setdefault(advisory["package"], []).append(advisory)
    ignored = set(re.findall(r'"(RUSTSEC-\d+-\d+)"', DENY.read_text()))
    hits, notes, count = [], [], 0
    for lock in locks:
        packages = [package for package in lock_packages(lock) if package[2]]
        count += len(packages)
        for name, version, _ in packages:
            for advisory in by_package.get(name, []):
                if advisory["id"] not in ignored and is_affected(advisory, version):
                    line = f"{lock.parent.name}/{lock.name}: {name} {version}: {advisory['id']} {advisory['title']}"
                    (notes if advisory["informational"] else hits).append(line)
    age = (datetime.date.today() - datetime.date.fromisoformat(stored["date"])).days
    print(f"advisories: {len(stored['advisories'])} of {stored['date']} against {count} packages in {len(locks)} lock files: "
          f"{len(hits)} hits, {len(notes)} notices")
    if age > STALE_DAYS:
        print(f"  the advisories are {age} days old: refresh them, see docs/supply-chain.md")
    for line in notes:
        print(f"  notice: {line}")
    return hits


def metadata():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        done = subprocess.run(command[:-1], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def licence_fits(expression, allowed):
    """AND binds more than OR; parentheses are kept."""
    tokens = re.findall(r"\(|\)|[A-Za-z0-9.+-]+(?: WITH [A-Za-z0-9.-]+)?", expression.replace("/", " OR "))
    words = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    return bool(eval(" ".join(words.get(token, str(token in allowed)) for token in tokens)))


def check_licences(packages):
    text = re.search(r"^allow = \[(.*?)\]", DENY.read_text(), re.M | re.S).group(1)
    allowed = set(re.findall(r'"([^"]+)"', text))
    outside = [package for package in packages if package["source"]]
    bad = [f"{package['name']} {package['version']}: licence {package['license']} is not in deny.toml"
           for package in outside if not package["license"] or not licence_fits(package["license"], allowed)]
    foreign = [f"{package['name']} {package['version']}: comes from {package['source']}, not from crates.io"
               for package in outside if not package["source"].startswith(("registry+", "sparse+"))]
    print(f"licences: {len(outside)} packages, {len(bad)} not allowed; sources: {len(foreign)} foreign")
    return bad + foreign


def screen_packages():
    """What the screen is built from; it is embedded in the binary."""
    lock = json.loads((ROOT / "ui" / "package-lock.json").read_text())
    return [(path.rpartition("node_modules/")[2], entry["version"], entry.get("license"))
            for path, entry in lock["packages"].items() if path and "version" in entry]


def write_bill(packages, to):
    component = lambda kind, name, version, licence: {
        "type": "library", "bom-ref": f"pkg:{kind}/{name}@{version}", "name": name, "version": version,
        "purl": f"pkg:{kind}/{name}@{version}", **({"licenses": [{"expression": licence}]} if licence else {})}
    rust = [component("cargo", p["name"], p["version"], (p["license"] or "").replace("/", " OR ")) for p in packages if p["source"]]
    screen = [component("npm", *package) for package in screen_packages()]
    version = next(p["version"] for p in packages if p["name"] == "server")
    components = sorted(rust + screen, key=lambda one: one["bom-ref"])
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))}",
            "metadata": {"component": {"type": "application", "name": "rialto", "version": version}},
            "components": components}
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(bill, indent=1) + "\n")
    print(f"bill of materials: {len(rust)} crates and {len(screen)} packages of the screen in {to}")


def refresh(clone):
    """Only what a comparison needs is stored."""
    shown = lambda *words: subprocess.run(["git", "-C", clone, *words], capture_output=True, text=True, check=True).stdout
    names = [name for name in shown("ls-tree", "-r", "--name-only", "HEAD").split() if name.startswith("crates/")]
    advisories = []
    for name in sorted(names):
        text = shown("show", f"HEAD:{name}")
        head = text.split("```toml")[1].split("```")[0]
        value = lambda key: (re.search(rf'^{key} = "(.*)"', head, re.M) or [None, None])[1]
        ranges = lambda key: re.findall(r'"([^"]*)"', (re.search(rf"^{key} = \[(.*?)\]", head, re.M | re.S) or ["", ""])[1])
        if value("withdrawn"):
            continue
        title = (re.search(r"^# (.*)$", text.split("```", 2)[2], re.M) or [None, ""])[1]
        advisories.append({"id": value("id"), "package": value("package"), "informational": value("informational"),
                           "patched": ranges("patched"), "unaffected": ranges("unaffected"), "title": title})
    commit, date = shown("log", "-1", "--format=%H %cs").split()
    lines = ",\n".join(json.dumps(advisory, separators=(",", ":")) for advisory in advisories)
    source = "https://github.com/rustsec/advisory-db, CC0-1.0"
    head = f'"source":"{source}","commit":"{commit}","date":"{date}"'
    ADVISORIES.write_text("{" + head + ',"advisories":[\n' + lines + "\n]}\n")
    print(f"{len(advisories)} advisories of {date}")


def main():
    if sys.argv[1:2] == ["refresh"]:
        return refresh(sys.argv[2])
    named = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    problems = check_advisories(named or sorted([ROOT / "Cargo.lock", *ROOT.glob("benches/**/Cargo.lock")]))
    if sys.argv[1:2] == ["advisories"]:
        return finish(problems)
    packages = metadata()["packages"]
    problems += check_licences(packages)
    write_bill(packages, ROOT / "target" / "sbom.cdx.json")
    finish(problems)


def finish(problems):
    for problem in problems:
        print(f"PROBLEM: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
