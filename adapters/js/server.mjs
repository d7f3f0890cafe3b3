// The loop over lines, and where the library is. It knows the messages, and no operation.

import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

import { hello, run } from "./library.mjs";
import { recorded } from "./recording.mjs";

const PROTOCOL = 1;

/** Redirects all later output to standard error: only answers reach the harness. */
export function quiet() {
  for (const name of ["log", "info", "debug", "warn"]) console[name] = console.error;
  process.stdout.write = (...given) => process.stderr.write(...given);
}

/** A function that finds packages in the environment that the harness made. */
function finder() {
  const environment = process.env.BROADCHECK_ENVIRONMENT;
  if (!environment) throw new Error("BROADCHECK_ENVIRONMENT names no folder in which the packages are installed");
  return createRequire(`${resolve(environment)}/`);
}

/** A package of the environment; `alias` is what programs that are made of its calls name it. */
export const load = (name, alias = "library") => recorded(finder()(name), name, alias);

/** Where the main file of a package of the environment is. */
export const place = (name) => finder().resolve(name);

/** Answers one request after the other until there are no more. */
export async function serve(library) {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim()) send(await answer(library, line));
  }
}

async function answer(library, line) {
  let request;
  try {
    request = JSON.parse(line);
  } catch (error) {
    return { error: { message: `not a request: ${error.message}` } };
  }
  if (Number.isInteger(request?.hello?.protocol)) return { hello: { protocol: PROTOCOL, hello: hello(library) } };
  const { seq, program } = request?.run ?? {};
  if (Number.isInteger(seq) && Array.isArray(program?.inputs) && Array.isArray(program?.steps)) {
    return { ran: { seq, reply: await guarded(library, program) } };
  }
  return { error: { message: "not a request: it is neither `hello` nor `run`" } };
}

/** The reply to a program. What goes wrong outside of any step is the adapter's fault, in every step. */
async function guarded(library, program) {
  try {
    return await run(library, program);
  } catch (error) {
    console.error(error);
    return { steps: program.steps.map(() => ({ outcome: { failed: String(error) } })) };
  }
}

function send(answer) {
  const bytes = Buffer.from(`${text(answer)}\n`);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

/** JSON in which large integers have all their digits. */
function text(answer) {
  const isLarge = (each) => typeof each === "bigint" || (Number.isInteger(each) && !Number.isSafeInteger(each));
  const marked = JSON.stringify(answer, (_key, each) => (isLarge(each) ? `\u0001${BigInt(each)}` : each));
  return marked.replace(/"\\u0001(-?\d+)"/g, "$1");
}
