// `keyfold dev` on an example: its address out, until it is stopped.

import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const project = new URL("../../", import.meta.url);
const binary = process.env.KEYFOLD_BINARY ?? fileURLToPath(new URL("target/debug/keyfold", project));

/** Starts `keyfold dev` on a copy of an example, or on one of the project's own schema (`.`), whose schema may be changed and whose samples may get more items before. */
export async function startServer(example, { change = (text) => text, samples = {} } = {}) {
  const directory = mkdtempSync(join(tmpdir(), "keyfold-console-"));
  const place = example === "." ? project : new URL(`examples/${example}/`, project);
  for (const part of example === "." ? ["schema.graphql", "samples"] : ["."]) cpSync(fileURLToPath(new URL(part, place)), join(directory, part), { recursive: true });
  const schema = join(directory, "schema.graphql");
  const changeSchema = (change) => {
    const text = change(readFileSync(schema, "utf8"));
    // Whole, under its name at once.
    writeFileSync(`${schema}.new`, text);
    renameSync(`${schema}.new`, schema);
  };
  changeSchema(change);
  for (const [table, items] of Object.entries(samples)) {
    const lines = items.map((item) => `${JSON.stringify({ Item: item })}\n`);
    appendFileSync(join(directory, "samples", `${table}.jsonl`), lines.join(""));
  }
  const options = ["dev", "--listen", "127.0.0.1:0", "--schema", schema, "--sample", join(directory, "samples")];
  const server = spawn(binary, [...options, "--token-secret", join(directory, "secret")], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const address = await new Promise((resolve, reject) => {
    ended.then((code) => reject(new Error(`keyfold dev ended with the code ${code}`)));
    server.once("error", reject);
    createInterface(server.stdout).on("line", (line) => {
      const found = line.match(/(?:GraphiQL|Mistakes)\s+(http:\S+)/);
      if (found) resolve(found[1]);
    });
  });
  return {
    address,
    /** A token of `keyfold token` with this subject, which the server accepts. */
    token: (subject) =>
      execFileSync(binary, ["token", "--sub", subject, "--token-secret", join(directory, "secret")], { encoding: "utf8" }).trim(),
    /** Changes the text of the schema, which the server loads again. */
    changeSchema,
    async stop() {
      server.kill("SIGTERM");
      await ended;
      rmSync(directory, { recursive: true });
    },
  };
}
