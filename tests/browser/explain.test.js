// Loads the page of `broadcheck explain` in a real browser, from the file and with no network, and asks it: by mouse and by
// keyboard, by links, on a phone, light and dark, with texts that mean harm. Each check is a function from a page to what is
// wrong with it; it has to find nothing in the page, and something in a copy in which a fault was planted. CHROMIUM names the
// browser, EXPLAIN the page, SHOTS a folder for screenshots.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FILE = resolve(process.env.EXPLAIN ?? join(import.meta.dirname, "../../target/explain.html"));
const SHOTS = process.env.SHOTS;
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
const MOST_BYTES = 1_000_000;

let browser;
let scratch;

before(async () => {
  if (SHOTS) mkdirSync(SHOTS, { recursive: true });
  scratch = mkdtempSync(join(tmpdir(), "explain-"));
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    env: { ...process.env, HOME: scratch },
  });
});

after(async () => {
  await browser?.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** The page with texts replaced, and without the policy that lets its own script run only. */
let copies = 0;
function planted(replacements) {
  let text = readFileSync(FILE, "utf8").replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "");
  for (const [before, behind] of replacements) {
    assert.ok(text.includes(before), `the fault cannot be planted, since the page has no ${before}`);
    text = text.replaceAll(before, () => behind);
  }
  const path = join(scratch, `${++copies}.html`);
  writeFileSync(path, text);
  return path;
}

/** An open page. `wrong` has every error in it, and whatever it asks of others. */
async function load({ file = FILE, hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && wrong.push(`console: ${message.text()}`));
  // `blob:` is the page's own worker, in memory.
  context.on("request", (request) => /^(file|blob):/.test(request.url()) || wrong.push(`request: ${request.url()}`));
  await page.goto(pathToFileURL(file).href + hash);
  if (options.javaScriptEnabled !== false) await settled(page);
  return { page, wrong, file, close: () => context.close() };
}

const FIELDS = ["q", "op", "args", "out", "dtype"];

/** Waits until the answer is that of the fields. */
const settled = (page) =>
  page.waitForFunction((names) => {
    const asked = Object.fromEntries(names.map((name) => [name, document.getElementById(name).value]));
    return document.getElementById("answer").dataset.of === JSON.stringify(asked);
  }, FIELDS, { timeout: 20_000 });

async function ask(page, question) {
  for (const name of FIELDS) await page.locator(`#${name}`).fill(question[name] ?? "");
  await settled(page);
}

async function shot(page, name, options = {}) {
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `explain-${name}.png`), ...options });
}

/** Checks the page, and that the check finds a planted fault. */
function check(name, run, faults, options = {}) {
  test(name, async () => {
    const opened = await load(options);
    assert.deepEqual(await run(opened), []);
    await opened.close();
  });
  for (const [fault, ...replacements] of faults) {
    test(`${name}; found: ${fault}`, async () => {
      const opened = await load({ ...options, file: planted(replacements) });
      assert.notDeepEqual(await run(opened), [], "the fault is not found");
      await opened.close();
    });
  }
}

// Each question, and what its answer has to have in it.
const MESSAGE = "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1";
const QUESTIONS = [
  [{ q: "5,3 4,3 1,3", op: "where" }, "Rejected", ["The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 0"]],
  [{ q: "32,8,128,64 32,8,64,128", op: "matmul" }, "Accepted", ["[32, 8, 128, 128]", "inner"]],
  [{ q: "2,8,16,4 2,8,16,4", op: "matmul" }, "Rejected", ["Expected size for first two dimensions of batch2 tensor to be: [16, 4] but got: [16, 16].", "transpose(-1, -2)", "[2, 8, 16, 16]"]],
  [{ q: 'torch.einsum("ij,jk->ik", a, b)\na=2,3 b=4,5' }, "Rejected", ["einsum(): "]],
  [{ q: "5,3 5,1", op: "masked_fill", args: "value=0" }, "Accepted", ["[5, 3]"]],
  [{ q: "5,3 3", op: "multiply" }, "Accepted", ["[5, 3]"]],
  [{ q: "5,3 3", op: "torch.add" }, "Accepted", ["[5, 3]"]],
  [{ q: "5,3 3", op: "+" }, "Accepted", ["[5, 3]"]],
  [{ q: "5,3 5", op: "cross_entropy" }, "Accepted", ["[]"]],
  [{ q: "5,1 4", out: "5,4" }, "Accepted", ["[5, 4]"]],
  [{ q: "torch.Size([5, 3]) 5x3" }, "Accepted", ["[5, 3]"]],
  [{ q: "x - mean\nx=B,T,C mean=B,C" }, "Depends", ["if "]],
  [{ q: "1000000000,1 1,1000000000" }, "Accepted", ["3.5 EiB"]],
  [{ q: "x[:, None] + y\nx=5,3 y=3" }, "Accepted", ["[5, 1, 3]"]],
  [{ q: `RuntimeError: ${MESSAGE}` }, "An error message", [MESSAGE, "dimension 1 of the result"]],
  [{ q: `Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n    loss = a + b\nRuntimeError: ${MESSAGE}\na=5,3 b=5,4` }, "Rejected", [MESSAGE, "train.py"]],
  [{ q: "1,3,1 3,1,7", op: "add_" }, "Rejected", ["output with shape [1, 3, 1] doesn't match the broadcast shape [3, 3, 7]"]],
  [{ q: "F.mse_loss(p, t)\np=64,1 t=64" }, "Accepted", ["Using a target size (torch.Size([64])) that is different to the input size", "squeeze"]],
  [{ q: "2,3 4,3", op: "frobnicate" }, "cannot be read", ["no such operation"]],
  [{ q: "x + (y\nx=3 y=3" }, "cannot be read", ["^"]],
];

check("questions have the answers of the command line", async ({ page, wrong }) => {
  const missing = [];
  for (const [question, verdict, parts] of QUESTIONS) {
    await ask(page, question);
    const said = await page.locator("#verdict").innerText();
    const all = await page.locator("#answer").innerText();
    for (const part of [verdict, ...parts]) {
      if (!(part === verdict ? said : all).includes(part)) missing.push(`${JSON.stringify(question)}: no ${part} in\n${all}`);
    }
  }
  return [...missing, ...wrong];
}, [["rejected calls are called accepted", ['case "rejected": return ["bad", "Rejected"', 'case "rejected": return ["bad", "Accepted"']],
  ["messages are left out", ['const message = answer.verdict === "rejected" && answer.message', "const message = false"]]]);

check("the page is one small file that asks nothing of others", async ({ file, wrong }) => {
  const bytes = statSync(file).size;
  const text = readFileSync(file, "utf8");
  return [...wrong, ...(bytes > MOST_BYTES ? [`${bytes} bytes`] : []), ...(/(?:src|href)="(?!#)/.exec(text) ?? [])];
}, [["a picture from elsewhere", ["<main>", '<main><img alt="" src="http://127.0.0.1:9/p.png">']],
  ["a large file", ["<main>", `<main><!--${"x".repeat(MOST_BYTES)}-->`]]]);

test("the policy keeps the page from asking others, even if something in it did", async () => {
  const { page, wrong, close } = await load();
  const outcome = await page.evaluate(() => fetch("http://127.0.0.1:9/").then(() => "sent", () => "kept"));
  assert.equal(outcome, "kept");
  assert.match(wrong.join("\n"), /Content Security Policy/);
  assert.doesNotMatch(wrong.join("\n"), /^request/m);
  await close();
});

check("the drawing is an SVG with a cell for each size, marked with its part", async ({ page, wrong }) => {
  await ask(page, { q: "5,1,4,1 3,2,1" });
  const drawing = page.getByRole("img", { name: /How the shapes line up: a \[5, 1, 4, 1\], b \[3, 2, 1\]/ });
  const found = await drawing.evaluateAll((all) => all.map((one) => [
    one.namespaceURI, ...[...one.querySelectorAll(".cell")].map((cell) => `${cell.querySelector("text").textContent} ${cell.getAttribute("class").split(" ")[1]}`),
  ]));
  const expected = ["http://www.w3.org/2000/svg", "5 plain", "1 expanded", "4 conflict", "1 plain", "· missing", "3 plain", "2 conflict", "1 plain", "5 plain", "3 plain", "✗ conflict", "1 plain"];
  // The same in words, for those who do not see it.
  const rules = await page.locator(".rules li").allInnerTexts();
  const told = rules.filter((rule) => /^fails: /.test(rule.replace(/\s+/g, " "))).length;
  return [...(JSON.stringify(found) === JSON.stringify([expected]) ? [] : [JSON.stringify(found)]), ...(rules.length === 4 && told === 1 ? [] : [`rules: ${rules}`]), ...wrong];
}, [["no mark", ["class: `cell ${mark}", "class: `cell plain"]], ["no name", ['role: "img", "aria-labelledby"', 'role: "group", "aria-labelledby"']],
  ["no rules", [": rules(drawing)", ": false"]]]);

check("a link holds the question", async ({ page, wrong, file }) => {
  const question = { q: "x @ w\nx=2,3 w=4,5", dtype: "w=float64" };
  await ask(page, question);
  const { page: other, close } = await load({ file, hash: new URL(page.url()).hash });
  const restored = await other.locator("#q").inputValue();
  const dtype = await other.locator("#dtype").inputValue();
  const same = (await other.locator("#answer").innerText()) === (await page.locator("#answer").innerText());
  await close();
  // Of a page that is open, too.
  await page.evaluate(() => { location.hash = "#q=7%2C1+1%2C9"; });
  await settled(page).catch(() => {});
  const followed = await page.getByText("gives shape [7, 9]").isVisible();
  return [...(restored === question.q && dtype === question.dtype && same ? [] : [`${restored} ${dtype} ${same}`]), ...(followed ? [] : ["a new link is not followed"]), ...wrong];
}, [["links are not read", ['const parameters = new URLSearchParams(location.hash.slice(1));', "const parameters = new URLSearchParams();"]],
  ["the dtype is left out", ['for (const name of FIELDS) if (question[name]', 'for (const name of FIELDS.slice(0, 3)) if (question[name]']]]);

check("copies are made of messages, fixes and links", async ({ page, wrong, file }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await ask(page, { q: "x / x.sum(1)\nx=4,3" });
  const copied = async (name) => {
    await page.getByRole("button", { name }).first().click();
    await page.getByText("Copied").first().waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const got = [await copied("Copy the message"), await copied(/^Copy x \/ /), await copied(/link/)];
  const wanted = ["The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1", "x / x.sum(1, keepdim=True)", `${pathToFileURL(file).href}#q=x+%2F+x.sum%281%29%0Ax%3D4%2C3`];
  return [...got.filter((text, at) => text !== wanted[at]), ...wrong];
}, [["a fix is copied with its result", ["copier(fix.code, fix.code)", "copier(fix.code + fix.result, fix.code)"]]]);

check("all is reached by keyboard, and what has the focus is seen", async ({ page, wrong }) => {
  const lost = [];
  const stops = [];
  await page.evaluate(() => scrollTo(0, 0));
  const tab = async () => {
    await page.keyboard.press("Tab");
    // Of transitions, the end.
    return page.evaluate(() => {
      const one = document.activeElement;
      const style = getComputedStyle(one);
      return { what: one.id || one.getAttribute("aria-label") || one.textContent, outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2, body: one === document.body };
    });
  };
  for (let at = 0; at < 60; at++) {
    const stop = await tab();
    if (stop.body || stops.includes(stop.what)) break;
    stops.push(stop.what);
    if (!stop.outline) lost.push(`${stop.what} does not show that it has the focus`);
    if (stop.what === "q") {
      await page.keyboard.press("Control+A");
      await page.keyboard.type("x / x.sum(1)\nx=4,3");
      await settled(page);
    }
  }
  for (const wanted of ["To the answer", "q", "op", "args", "out", "dtype", "where", "Copy the message", "Copy x / x.sum(1, keepdim=True)", "Copy a link to this question"]) {
    if (!stops.includes(wanted)) lost.push(`${wanted} is not reached: ${stops.join(" | ")}`);
  }
  // An example, without a mouse.
  await page.getByRole("button", { name: "in place" }).focus();
  await page.keyboard.press("Enter");
  await settled(page);
  if (!(await page.locator("#verdict").innerText()).includes("Rejected")) lost.push("an example is not asked");
  return [...lost, ...wrong];
}, [["buttons cannot have the focus", ['h("button", { type: "button", "aria-label"', 'h("button", { type: "button", tabindex: "-1", "aria-label"']],
  ["the focus is not seen", ["</style>", "* { outline: none !important }</style>"]]]);

/** What a person with a screen reader stumbles over. */
const accessible = async ({ page, wrong }) => {
  await ask(page, { q: "x / x.sum(1)\nx=4,3" });
  const found = await page.evaluate(() => {
    const wrong = [];
    const all = (selector) => [...document.querySelectorAll(selector)];
    if (!document.documentElement.lang) wrong.push("no language");
    if (!document.title) wrong.push("no title");
    for (const tag of ["main", "header", "footer", "h1"]) if (all(tag).length !== 1) wrong.push(`${all(tag).length} ${tag}`);
    const ids = all("[id]").map((one) => one.id);
    if (new Set(ids).size !== ids.length) wrong.push("an id is there twice");
    for (const input of all("input, textarea, select")) if (!input.labels?.length || !input.labels[0].textContent.trim()) wrong.push(`#${input.id} has no label`);
    for (const button of all("button, a")) if (!(button.getAttribute("aria-label") ?? button.textContent).trim()) wrong.push("a button without a name");
    for (const button of all("button[aria-label]")) if (!button.getAttribute("aria-label").startsWith(button.textContent)) wrong.push(`${button.textContent} is called otherwise`);
    for (const one of all("[aria-labelledby], [aria-describedby], [for], [list]")) {
      for (const id of ["aria-labelledby", "aria-describedby", "for", "list"].flatMap((name) => (one.getAttribute(name) ?? "").split(" ").filter(Boolean))) {
        if (!document.getElementById(id)) wrong.push(`${id} is named and not there`);
      }
    }
    for (const image of all("svg")) {
      const named = image.getAttribute("role") === "img" && document.getElementById(image.getAttribute("aria-labelledby"))?.textContent;
      if (!named && image.getAttribute("aria-hidden") !== "true") wrong.push("a picture without a name");
    }
    for (const one of all("ul > *, ol > *")) if (one.tagName !== "LI") wrong.push(`${one.tagName} in a list`);
    const levels = all("h1, h2, h3, h4").map((one) => Number(one.tagName[1]));
    if (levels[0] !== 1 || levels.some((level, at) => at > 0 && level > levels[at - 1] + 1)) wrong.push(`headings ${levels}`);
    const live = document.getElementById("verdict");
    if (live.getAttribute("aria-live") !== "polite" || live.getAttribute("role") !== "status") wrong.push("the verdict is not announced");
    for (const one of all("*")) {
      const style = getComputedStyle(one);
      if (one.scrollWidth > one.clientWidth + 1 && style.overflowX === "auto" && one.tabIndex < 0) wrong.push(`${one.className} is scrolled by mouse alone`);
    }
    if (!all("#verdict svg path").length) wrong.push("the verdict is told by colour alone");
    return wrong;
  });
  return [...found, ...wrong];
};
check("a screen reader finds names, roles and an order", accessible, [
  ["a field without label", ['for="q"', 'for="dtype"']],
  ["buttons that say Copy and nothing else", ['"aria-label": `${label} ${what}`', '"aria-label": ""']],
  ["no live region", ['aria-live="polite"', ""]],
  ["headings of the wrong level", ["<h1>", "<h3>"], ["</h1>", "</h3>"]],
  ["an id twice", ['<div id="details">', '<p id="q-help"></p><div id="details">']],
]);

/** Texts that do not stand out from what is behind them, by the formula of WCAG 2. */
const contrast = async ({ page, wrong }) => {
  const poor = [];
  for (const question of [{ q: "x / x.sum(1)\nx=4,3" }, { q: "5,1,4 3,1", op: "add" }, { q: "x + y\nx=B,3 y=C,3" }, { q: "F.mse_loss(p, t)\np=64,1 t=64" }, { q: "x + (" }, { q: `RuntimeError: ${MESSAGE}` }]) {
    await ask(page, question);
    await page.waitForTimeout(200);
    poor.push(...await page.evaluate(() => {
      const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
      const luminance = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
      };
      const ground = (one) => {
        for (let at = one; at; at = at.parentElement) {
          // What an SVG has drawn below its text.
          const rect = at.tagName === "g" && at.querySelector("rect");
          const colour = rect ? getComputedStyle(rect).fill : getComputedStyle(at).backgroundColor;
          if (colour !== "none" && (numbers(colour)[3] ?? 1) > 0.99) return numbers(colour);
        }
        return [255, 255, 255];
      };
      const poor = [];
      for (const one of document.querySelectorAll("body *")) {
        const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!own || !one.getClientRects().length || one.closest("script, style, noscript, datalist, .skip, .hidden, title")) continue;
        const style = getComputedStyle(one);
        const ink = numbers(one instanceof SVGElement ? style.fill : style.color);
        const [a, b] = [luminance(ink), luminance(ground(one))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} for "${one.textContent.slice(0, 40)}" (${one.getAttribute("class")})`);
      }
      return poor;
    }));
  }
  const [red, green, blue] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
  const dark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  if (dark !== (red + green + blue) / 3 < 80) poor.push(`the background is ${red}, ${green}, ${blue}`);
  return [...new Set(poor), ...wrong];
};
for (const colorScheme of ["light", "dark"]) {
  const ink = colorScheme === "light" ? "--faint: #5f5d57" : "--faint: #a5a29b";
  check(`${colorScheme}: texts stand out from their background`, contrast, [["a faint colour", [ink, "--faint: #828282"]],
    ["the other scheme", ["prefers-color-scheme: dark", "prefers-color-scheme: light"]]].slice(0, 2), { colorScheme });
}

check("on a phone nothing sticks out, and buttons are large enough", async ({ page, wrong }) => {
  const found = [];
  for (const [question] of [...QUESTIONS, [{ q: `${Array(24).fill("1000").join(",")} 7` }], [{ q: `${"long_name_".repeat(12)} + b\n${"long_name_".repeat(12)}=3 b=4` }]]) {
    await ask(page, question);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - 390);
    if (over > 0) found.push(`${over} pixels too wide: ${question.q.slice(0, 60)}`);
  }
  const small = await page.evaluate(() => [...document.querySelectorAll("button")].filter((one) => one.getBoundingClientRect().height < 40).length);
  return [...found, ...(small ? [`${small} small buttons`] : []), ...wrong];
}, [["wide drawings", [".wide { overflow-x: auto;", ".wide {"]], ["small buttons", ["button { min-height: 2.75rem; }", "button { min-height: 0; }"]]],
  { viewport: PHONE, isMobile: true, hasTouch: true });

const HARM = '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script><svg onload="window.harmed=1">';
check("texts from outside make no elements, and run nothing", async (opened) => {
  const { page, file } = opened;
  const found = [];
  const look = async (page, where) => {
    const made = await page.evaluate(() => [window.harmed, document.querySelectorAll("#answer img, #answer script, #answer iframe, form img, body > script:not([id])").length - 1]);
    if (made[0] !== undefined || made[1] !== 0) found.push(`${where}: ${made}`);
  };
  for (const question of [{ q: HARM }, { q: "5,3 4", op: HARM }, { q: "5,3 4", dtype: HARM }, { q: `RuntimeError: ${HARM}` }, { q: `ValueError: ${HARM}\n${MESSAGE}` }, { q: `torch.einsum("${HARM}", a)\na=3` }]) {
    await ask(page, question);
    await look(page, JSON.stringify(question));
  }
  const hashes = [`q=${encodeURIComponent(HARM)}`, `q=5,3&op=${encodeURIComponent(HARM)}`, HARM, "%", "q=%E0%A4%A", `q=${"(".repeat(5000)}`, "__proto__=1&q=3", "q=5,3&q=4&constructor=x"];
  for (const hash of hashes) {
    const { page: other, wrong, close } = await load({ file, hash: `#${hash}` });
    await look(other, hash.slice(0, 60));
    found.push(...wrong);
    await close();
  }
  return found;
}, [["an answer is taken for HTML", ['const grow = (node, attributes, children) => {', 'const grow = (node, attributes, children) => { if (node.className !== undefined && children.length === 1 && typeof children[0] === "string") { const box = document.createElement("i"); box.innerHTML = children[0]; children = [...box.childNodes]; }']]]);

test("texts of other releases stand next to the exact one", async () => {
  const { page, wrong, close } = await load();
  await ask(page, { q: "2,3 4,5", op: "mm" });
  const cards = await page.locator(".card", { has: page.locator("pre.message") }).innerText();
  assert.match(cards, /^mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)/);
  assert.doesNotMatch(cards, /addmv/, "the message of another error");
  assert.match(cards, /from 2\.15 on, in scaled_dot_product_attention, matmul, mm:\s+mm: mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)/);
  assert.match(await page.locator("#details").innerText(), /libtorch \d+\.\d+\.\d+, exactly/);
  assert.deepEqual(wrong, []);
  await close();
});

// A module that ends at some questions, as one does that has a fault.
const TRAP = `const before = WebAssembly.instantiate; WebAssembly.instantiate = async (...all) => { const { instance } = await before(...all);
  let text = "", dead = false; const e = instance.exports; return { instance: { exports: { answer_byte: e.answer_byte,
  question_byte(byte) { text += String.fromCharCode(byte); e.question_byte(byte); },
  answer_question() { dead ||= text.includes("trap_here"); if (dead) throw new WebAssembly.RuntimeError("unreachable"); text = ""; return e.answer_question(); } } } }; };`;
const TRAPPING = ["new Blob([`(${work})()`]", `new Blob([${JSON.stringify(TRAP)}, \`(\${work})()\`]`];
const goesOn = async ({ page, wrong }) => {
  await ask(page, { q: "trap_here + 1" });
  const said = await page.locator("#answer").innerText();
  await ask(page, { q: "5,1 4" });
  const next = await page.locator("#answer").innerText();
  const found = [];
  if (!said.includes("cannot be answered here") || !said.includes("trap_here") || !said.includes("Copy a report")) found.push(said);
  if (!next.includes("gives shape [5, 4]")) found.push(next);
  return [...found, ...wrong];
};
test("if the module ends, the page says so and goes on", async () => {
  const opened = await load({ file: planted([TRAPPING]) });
  assert.deepEqual(await goesOn(opened), []);
  await shot(opened.page, "trap");
  await opened.close();
});
test("if the module ends, the page says so and goes on; found: the instance stays", async () => {
  const stays = ["clearTimeout(clock);\n          this.start();", "clearTimeout(clock);"];
  const opened = await load({ file: planted([TRAPPING, stays]) });
  assert.notDeepEqual(await goesOn(opened), []);
  await opened.close();
});

test("without JavaScript the page names the command line", async () => {
  const { page, close } = await load({ javaScriptEnabled: false });
  assert.ok(await page.getByText("broadcheck explain 5,3 4,3").first().isVisible());
  assert.equal(await page.locator("#q").isVisible(), false, "a field that does nothing");
  await close();
});

test("an answer is there while typing, in less than a second", async () => {
  const { page, wrong, close } = await load();
  await page.locator("#q").fill("");
  await settled(page);
  const begun = Date.now();
  await page.locator("#q").fill("images - mean\nimages=32,3,224,224 mean=3");
  await settled(page);
  const took = Date.now() - begun;
  console.log(`an answer after ${took} ms`);
  assert.ok(took < 3000, `${took} ms, on a machine that may be busy`);
  assert.deepEqual(wrong, []);
  await close();
});

for (const [device, viewport] of [["desktop", DESKTOP], ["phone", PHONE]]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`pictures: ${device}, ${colorScheme}`, { skip: !SHOTS }, async () => {
      const { page, close } = await load({ viewport, colorScheme, deviceScaleFactor: 1 });
      const questions = { rejected: { q: "images - mean\nimages=32,3,224,224  mean=3" }, matmul: { q: "32,8,128,64  32,8,64,128", op: "matmul" }, names: { q: "q @ k.transpose(-1, -2)\nq=B,H,T,D  k=B,G,S,D" }, loss: { q: "F.mse_loss(p, t)\np=64,1 t=64" }, mm: { q: "2,3 4,5", op: "mm" }, unread: { q: "x + (y\nx=3 y=3" }, message: { q: `RuntimeError: ${MESSAGE}` } };
      for (const [name, question] of Object.entries(questions)) {
        await ask(page, question);
        await shot(page, `${device}-${colorScheme}-${name}`, { fullPage: true });
      }
      await close();
    });
  }
}
