// Reads an AsyncAPI document from a file with the specification's own parser. Prints what is wrong with it, a line each.
//
//     node check.mjs FILE

import { readFile } from "node:fs/promises";
import { Parser } from "@asyncapi/parser";

const { document, diagnostics } = await new Parser().parse(await readFile(process.argv[2], "utf8"));
// 0 is an error, 1 a warning; what is advised beyond is taste.
const faults = diagnostics.filter((one) => one.severity <= 1);
for (const fault of faults) console.log(`${fault.code} at ${fault.path.join("/")}: ${fault.message}`);
if (document) console.log(`${document.channels().length} channels, ${document.operations().length} operations`);
process.exit(document && faults.length === 0 ? 0 : 1);
