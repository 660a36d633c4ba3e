// Runs a scenario in the WebAssembly module and compares it with what the program wrote for the same scenario:
//
//     stillup run --out DIRECTORY
//     cargo build --package stillup-wasm --target wasm32-unknown-unknown --profile wasm
//     node wasm/check.mjs target/wasm32-unknown-unknown/wasm/stillup_wasm.wasm DIRECTORY [SCENARIO]
//
// Every figure of summary.json and the digest of every replicate must be the same, to the last bit.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [modulePath, directory, scenario] = process.argv.slice(2);
if (!modulePath || !directory) {
  console.error("usage: node check.mjs MODULE RUN-DIRECTORY [SCENARIO]");
  process.exit(2);
}

const bytes = readFileSync(modulePath);
// No imports: neither a clock nor a file, nor chance from outside.
const { exports: stillup } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {});

function ask(request) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const at = stillup.stillup_input(text.length);
  new Uint8Array(stillup.memory.buffer, at, text.length).set(text);
  const length = stillup.stillup_run();
  const answer = new Uint8Array(stillup.memory.buffer, stillup.stillup_output(), length);
  return JSON.parse(new TextDecoder().decode(answer));
}

const { refused } = ask({ set: ["replicats=5"] });
assert.match(refused, /did you mean `replicates`\?/);

const began = performance.now();
const { ran } = ask(scenario ? { scenario } : {});
const seconds = (performance.now() - began) / 1000;

const read = (name) => JSON.parse(readFileSync(join(directory, name), "utf8"));
const expected = read("summary.json");
const manifest = read("manifest.json");
// How it was called is all that may differ.
delete expected.command;
delete ran.summary.command;
assert.deepEqual(ran.summary, expected);
if (manifest.replicate_digests) {
  assert.deepEqual(ran["replicate-digests"], manifest.replicate_digests);
}

const { events, digest, replicates } = ran.summary;
console.log(
  `${replicates} replicates, ${events} events, digest ${digest}: the same as natively, ` +
    `in ${seconds.toFixed(2)} s; the module has ${(bytes.length / 1e6).toFixed(1)} MB`,
);
