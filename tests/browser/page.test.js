// Loads the index.html of `broadcheck report` in a real browser, from the file and with no network, and uses it: search,
// keyboard, links, cases; without JavaScript; on a phone; light and dark. SHOTS is a folder for screenshots.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { DESKTOP, FILE, PAGE, PHONE, launch } from "./browser.js";

const SHOTS = process.env.SHOTS;
const LIMIT = 800_000;
// The case of README.md, its statement, and what libtorch says.
const CASE = "in-place/shape-would-change";
const CLAUSE = "in-place-message";
const MESSAGE = "output with shape [1, 3, 1] doesn't match the broadcast shape [3, 3, 7]";

let browser;

before(async () => {
  if (SHOTS) mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
});

after(() => browser?.close());

/** A page that has been loaded; whatever it asks of anybody else, and every error in it, is kept. */
async function load(options = {}, address = "", file = PAGE) {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && wrong.push(`console: ${message.text()}`));
  page.on("request", (request) => /^(file|data):/.test(request.url()) || wrong.push(`request: ${request.url()}`));
  await page.goto(file + address);
  if (options.javaScriptEnabled !== false) await ready(page);
  return { page, wrong, close: () => context.close() };
}

/** Waits until the search is there, and all data are unpacked. */
async function ready(page) {
  await page.locator("#search").waitFor({ state: "visible" });
  await page.locator("#grid:not([hidden])").waitFor({ state: "attached" });
}

async function shot(page, name) {
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

const byId = (page, id) => page.locator(`[id="${id}"]`);
const field = (page) => page.getByRole("searchbox");
const status = (page) => page.getByRole("status");

/** Searches, and waits for the answer. */
async function search(page, text) {
  const before = await status(page).textContent();
  await field(page).fill(text);
  await page.waitForFunction((before) => document.querySelector("output").textContent !== before, before);
  return status(page).textContent();
}

/** The ids of the statements that are found, in their order. */
const found = (page) => page.locator("#found .s > div").evaluateAll((all) => all.map((one) => one.id));

/** The data that the script of the page draws, and by statement the names that each of its cases calls. */
const packed = (page) => page.evaluate(async () => {
  const unpack = async (id) => {
    const digits = Array.from({ length: 91 }, (_, at) => String.fromCharCode(35 + at)).filter((one) => !"&'<>\\`".includes(one));
    const words = document.getElementById(id).textContent.match(/.{1,5}/gs).flatMap((five) => {
      const word = [...five.padEnd(5, "}")].reduce((word, one) => word * 85 + digits.indexOf(one), 0);
      return [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).slice(0, five.length - 1);
    });
    const bytes = Uint8Array.from(words);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  // What src/report/columns.rs has taken apart.
  const [{ names, cases }, { columns, places }] = [await unpack("index"), await unpack("packed")];
  const next = {};
  const read = (path) => {
    const token = columns[path][(next[path] = (next[path] ?? -1) + 1)];
    if (path in places && Number.isInteger(token)) return columns[places[path]][token];
    if (!Array.isArray(token)) return Number.isInteger(token?.at) ? columns[path][token.at] : token;
    if (typeof token[0] === "number") return Array.from({ length: token[0] }, () => read(`${path}[]`));
    return Object.fromEntries(token.map((key) => [key, read(`${path}.${key}`)]));
  };
  const statements = Object.fromEntries(read("").statements.map(({ id, ...own }) => [id, own]));
  const called = Object.entries(cases).map(([id, own]) => [id, own.map(([, calls]) => calls.map((at) => names[at]))]);
  return { statements, calls: Object.fromEntries(called) };
});

/** In the page: the contrast of the text of an element with what is behind it, as WCAG 2 defines it. */
const contrast = (one) => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const linear = (part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  let behind = one;
  while (behind && parts(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const ground = behind ? parts(getComputedStyle(behind).backgroundColor) : [255, 255, 255];
  const [light, dark] = [luminance(parts(getComputedStyle(one).color)), luminance(ground)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
};

test("the page is small, needs nothing but itself, and draws little before it is asked", async () => {
  assert.ok(statSync(FILE).size < LIMIT, `${statSync(FILE).size} bytes`);
  const { page, wrong, close } = await load();
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 9000, `${nodes} elements before anybody has done anything`);
  assert.equal(await page.locator(".c").count(), 0, "cases are drawn before their statement is opened");
  assert.equal(await page.locator(".grid td").count(), 0, "a table is drawn before it is looked at");
  // Far down, it is.
  await page.locator("#statements h2").scrollIntoViewIfNeeded();
  await page.locator("#grid .grid td").first().waitFor();
  assert.equal(await page.locator("#grid tr[data-w]").count(), 0, "statements are drawn before their theme is opened");
  assert.equal(await page.locator("#cases .s").count(), Object.keys((await packed(page)).statements).length);
  assert.deepEqual(wrong, []);
  await close();
});

test("the page begins with the search, false sentences and the newest release", async () => {
  const { page, wrong, close } = await load();
  await shot(page, "desktop-light");
  const sections = await page.locator("main > section:visible").evaluateAll((all) => all.map((one) => one.id));
  assert.deepEqual(sections.slice(0, 5), ["overview", "false-sentences", "newest", "releases", "implementations"]);
  const top = await field(page).boundingBox();
  assert.ok(top.y + top.height < 450, `the search ends at ${top.y + top.height}`);
  // As many false sentences as there are false statements of documents, each with its correction.
  const cards = page.locator("#false-sentences .cards > li.w-false");
  assert.ok((await cards.count()) > 10, `${await cards.count()} false sentences`);
  assert.equal(await cards.count(), await page.locator("#cases > h3#code").evaluate((code) => {
    const own = [...document.querySelectorAll("#cases .s[data-w=false]")];
    return own.filter((one) => one.compareDocumentPosition(code) & Node.DOCUMENT_POSITION_FOLLOWING).length;
  }));
  assert.equal(await cards.locator(".fix").count(), await cards.count());
  // A card leads to the case that shows it.
  await cards.first().getByRole("link").click();
  const target = await page.evaluate(() => decodeURIComponent(location.hash.slice(1)));
  assert.ok(await byId(page, target).isVisible());
  await byId(page, target).locator(".c").first().waitFor();
  // What changed: in numbers, and each with its case.
  const changed = page.locator("#newest");
  assert.match(await changed.locator("h2").innerText(), /^What changed in libtorch \d/);
  assert.match(await changed.innerText(), /\d+ of \d+ cases differ/);
  assert.ok((await changed.locator(".changes > li").count()) > 0);
  assert.deepEqual(wrong, []);
  await close();
});

test("the newest release comes first, in the table and in the columns", async () => {
  const { page, close } = await load();
  const numbers = (label) => label.match(/\d+/g).map(Number);
  const descending = (labels) => {
    for (const [at, label] of labels.slice(1).entries()) {
      const [newer, older] = [numbers(labels[at]), numbers(label)];
      const first = newer.findIndex((number, part) => number !== older[part]);
      assert.ok(newer[first] > older[first], `${labels[at]} stands before ${label}`);
    }
  };
  const releases = (labels) => labels.filter((label) => /^(libtorch )?\d/.test(label));
  const rows = await page.locator("#releases tbody th").allInnerTexts();
  assert.ok(releases(rows).length > 10);
  descending(releases(rows));
  await page.locator("#grid").scrollIntoViewIfNeeded();
  await page.locator("#grid .grid").waitFor();
  const columns = await page.locator("#grid thead th").allInnerTexts();
  assert.deepEqual(releases(columns.slice(1)).map((label) => `libtorch ${label}`), releases(rows));
  await close();
});

/** The name of an operation without its form. */
const operation = (name) => name.replace(/ out=$/, "").replace(/(?<=[a-z0-9])_$/, "");

/** Whole names of operations are found before anything that has their letters; returns what the page has. */
async function findsWholeNames(page) {
  const { statements, calls } = await packed(page);
  const calling = (name) => Object.keys(calls).filter((id) => calls[id].flat().some((call) => operation(call) === name));
  for (const [asked, name] of [["mm", "mm"], ["add_", "add"], ["torch.where(", "where"], ["x.mul_(y)", "mul"], ["@", "matmul"], ["t", "t"]]) {
    const told = await search(page, asked);
    const expected = calling(name);
    assert.ok(expected.length > 0, `no statement calls ${name}`);
    assert.ok(told.startsWith(`${name} is an operation: ${expected.length} statement`), `${asked}: ${told}`);
    const ids = await found(page);
    const first = Math.min(20, expected.length);
    assert.deepEqual(ids.slice(0, first).filter((id) => !expected.includes(id)), [], `${asked} finds something else first`);
  }
  // Of `add_`, what calls this form comes first.
  await search(page, "add_");
  const [best] = await found(page);
  assert.ok(calls[best].flat().includes("add_"), `${best} does not call add_`);
  return { statements, calls, calling };
}

test("the search finds whole names of operations before anything that has the letters", async () => {
  const { page, wrong, close } = await load();
  const { statements, calls, calling } = await findsWholeNames(page);
  // A search for letters alone would find more of them.
  await search(page, "mm");
  await shot(page, "desktop-search");
  const letters = Object.keys(statements).filter((id) => JSON.stringify(statements[id]).includes("mm"));
  assert.ok(letters.length > 2 * calling("mm").length, "the letters alone find the same");
  // In a statement that is found, the cases that call it, and the others if they are asked for.
  const mixed = calling("mm").find((id) => calls[id].some((one) => !one.some((call) => operation(call) === "mm")));
  const section = page.locator("#found .s", { has: byId(page, mixed) });
  await section.locator("summary").first().click();
  await section.locator(".c:visible").first().waitFor();
  const shown = await section.locator(".c:visible").count();
  assert.ok(shown > 0 && shown < statements[mixed].cases.length, `${shown} of ${statements[mixed].cases.length} cases`);
  await section.getByRole("button", { name: /other case/ }).click();
  assert.equal(await section.locator(".c:visible").count(), statements[mixed].cases.length);
  assert.deepEqual(wrong, []);
  await close();
});

/** The page with something else in one place, in a file of its own. */
function changed(html, place, other) {
  assert.ok(html.search(place) >= 0, `the page has no ${place}`);
  const file = join(mkdtempSync(join(tmpdir(), "page-")), "index.html");
  writeFileSync(file, html.replace(place, () => other));
  return pathToFileURL(file).href;
}

test("the first answer needs the index alone, and not what takes long to unpack", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(changed(readFileSync(FILE, "utf8"), /(?<=id="packed">)[^<]*/, ""));
  await page.locator("#search").waitFor({ state: "visible" });
  assert.match(await search(page, "mm"), /^mm is an operation: \d+ statement/);
  assert.ok((await found(page)).length > 0);
  assert.equal(await page.locator("#grid").isVisible(), false, "the data are there");
  await context.close();
});

test("a search that finds letters alone, or finds them first, is noticed", async () => {
  const html = readFileSync(FILE, "utf8");
  for (const [right, faulty] of [
    [/operations\.get\(token\.exact\)\?\.get\(one\.id\) \?\? operations\.get\(token\.base\)\?\.get\(one\.id\)/, "null"],
    [/for \(const rank of \[3, 2, 1\]\)/, "for (const rank of [1, 2, 3])"],
  ]) {
    const { page, close } = await load({}, "", changed(html, right, faulty));
    await assert.rejects(findsWholeNames(page), assert.AssertionError);
    await close();
  }
});

test("the search finds words and messages, filters, and keeps the address", async () => {
  const { page, wrong, close } = await load();
  const order = await page.locator("#cases .s > div").evaluateAll((all) => all.map((one) => one.id));
  assert.match(await search(page, "einsum index"), /^\d+ statements, \d+ cases$/);
  const ids = await found(page);
  assert.ok(ids.length > 0 && ids.every((id) => order.includes(id)));
  // A message that a case has, and no statement.
  await search(page, MESSAGE.slice(0, 40));
  assert.ok((await found(page)).includes(CLAUSE));
  // What is cut off is shown when it is asked for.
  await search(page, "tensor");
  const some = (await found(page)).length;
  await page.getByRole("button", { name: /^Show \d+ more$/ }).first().click();
  assert.ok((await found(page)).length > some);
  // A filter alone, and with words.
  await search(page, "");
  await page.getByLabel("Show").selectOption("x");
  await page.locator("#found .s").first().waitFor();
  assert.equal(await page.locator('#found .s:not([data-w])').count(), 0);
  await search(page, "quantum chromodynamics");
  assert.match(await status(page).textContent(), /^0 statements, 0 cases$/);
  assert.ok(await page.getByText("Nothing is found").isVisible());
  await page.reload();
  await ready(page);
  assert.equal(await field(page).inputValue(), "quantum chromodynamics");
  assert.equal((await found(page)).length, 0);
  // Everything is back in its place at the end.
  await page.getByLabel("Show").selectOption("");
  await search(page, "");
  assert.deepEqual(await page.locator("#cases .s > div").evaluateAll((all) => all.map((one) => one.id)), order);
  assert.ok(await page.locator("#false-sentences").isVisible());
  assert.deepEqual(wrong, []);
  await close();
});

test("the keyboard alone is enough", async () => {
  const { page, wrong, close } = await load();
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.tagName.toLowerCase());
  // The first stop leads past the header.
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("/");
  assert.equal(await focused(), "q");
  assert.equal(await field(page).inputValue(), "", "the key that leads to the field is typed into it");
  const outline = await field(page).evaluate((one) => getComputedStyle(one).outlineStyle);
  assert.notEqual(outline, "none", "focus is not visible");
  await page.keyboard.type("mm/");
  assert.equal(await field(page).inputValue(), "mm/", "a slash cannot be typed");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "summary");
  await page.keyboard.press("Enter");
  await page.locator("#found .s[open] .c:visible").first().waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await field(page).inputValue(), "");
  assert.equal(await focused(), "q");
  assert.ok(await page.locator("#overview").isVisible());
  assert.equal(await page.locator("#found .s").count(), 0);
  // A theme opens its statements, and says so.
  const theme = page.locator("#grid button", { hasText: "matmul" }).first();
  await page.locator("#grid").scrollIntoViewIfNeeded();
  await theme.focus();
  await page.keyboard.press("Enter");
  assert.equal(await theme.getAttribute("aria-expanded"), "true");
  assert.ok((await page.locator("#grid tr[data-w]").count()) > 0);
  await page.keyboard.press("Space");
  assert.equal(await page.locator("#grid tr[data-w]").count(), 0);
  assert.deepEqual(wrong, []);
  await close();
});

test("landmarks, headings, labels and tables are complete", async () => {
  const { page, close } = await load();
  for (const id of ["grid", "shares"]) {
    await byId(page, id).scrollIntoViewIfNeeded();
    await page.locator(`#${id} table`).waitFor();
  }
  for (const role of ["banner", "main", "search", "contentinfo", "navigation"]) {
    assert.equal(await page.getByRole(role).count(), 1, role);
  }
  const levels = await page.locator("h1, h2, h3, h4").evaluateAll((all) => all.map((one) => Number(one.tagName[1])));
  assert.equal(levels[0], 1);
  levels.slice(1).forEach((level, at) => assert.ok(level > 1 && level <= levels[at] + 1, `h${level} follows h${levels[at]}`));
  const bare = await page.evaluate(() => ({
    tables: [...document.querySelectorAll("table:not(.o)")].filter((one) => !one.caption || one.querySelector("th:not([scope])")).length,
    scrolled: [...document.querySelectorAll(".wide")].filter((one) => one.tabIndex !== 0 || !one.getAttribute("aria-label")).length,
    fields: [...document.querySelectorAll("input, select")].filter((one) => !one.labels.length).length,
    twice: [...document.querySelectorAll("[id]")].filter((one) => document.getElementById(one.id) !== one).map((one) => one.id),
  }));
  assert.deepEqual(bare, { tables: 0, scrolled: 0, fields: 0, twice: [] });
  assert.equal(await status(page).getAttribute("aria-live"), "polite");
  const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((one) => {
    const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(one);
    return animationName !== "none" || transitionDuration !== "0s" || scrollBehavior !== "auto";
  }).length);
  assert.equal(moving, 0, "something moves, whatever the reader prefers");
  await close();
});

test("libraries stand beside each other, with shares in words and in colours that differ", async () => {
  const { page, wrong, close } = await load();
  const cells = page.locator("#implementations .sum tbody td:nth-child(2):not(.n)");
  assert.ok((await cells.count()) > 12, `${await cells.count()} libraries`);
  for (const text of await cells.allInnerTexts()) assert.match(text, /^\d+\.\d % \d+ of \d+$/);
  await page.locator("#implementations h2").scrollIntoViewIfNeeded();
  await shot(page, "desktop-libraries");
  await byId(page, "shares").scrollIntoViewIfNeeded();
  const shares = page.locator("#shares tbody td[class^=t]");
  await shares.first().waitFor();
  const seen = await shares.evaluateAll((all) => all.map((one) => [parseInt(one.textContent), getComputedStyle(one).backgroundColor]));
  const colour = (from, to) => {
    const colours = new Set(seen.filter(([share]) => share >= from && share <= to).map(([, colour]) => colour));
    assert.equal(colours.size, 1, `${from} % to ${to} %: ${[...colours]}`);
    return [...colours][0];
  };
  assert.equal(new Set([colour(50, 74), colour(75, 89), colour(95, 99), colour(100, 100)]).size, 4);
  // A colour that is used is in the legend next to it.
  const used = await shares.evaluateAll((all) => [...new Set(all.map((one) => one.className))]);
  for (const name of used) assert.equal(await page.locator(`#implementations .legend i.${name}`).count(), 1, name);
  await byId(page, "shares").evaluate((one) => one.scrollIntoView());
  await shot(page, "desktop-shares");
  // From a library to its differences: in the table, and out of a search.
  await page.locator("#implementations .sum").getByRole("link", { name: /^numpy \d/ }).click();
  await byId(page, "library-numpy").locator("dd a").first().waitFor({ state: "visible" });
  await search(page, "candle");
  await page.locator("#found").getByRole("link", { name: "candle" }).click();
  await byId(page, "library-candle").locator("dd a").first().waitFor({ state: "visible" });
  assert.deepEqual(wrong, []);
  await close();
});

test("the table of statements has a legend, a cell for each release, and no information by colour alone", async () => {
  const { page, wrong, close } = await load();
  await page.locator("#grid").scrollIntoViewIfNeeded();
  await page.locator("#grid .grid").waitFor();
  await page.locator("#statements").evaluate((one) => one.scrollIntoView());
  await shot(page, "desktop-grid");
  const buttons = await page.locator("#grid button").all();
  for (const one of buttons) await one.evaluate((button) => button.click());
  const rows = await page.locator("#grid tr[data-w]").count();
  assert.equal(rows, await page.locator("#cases .s").count());
  assert.equal(await page.locator("#grid tr[data-w] td").count(), rows * (await page.locator("#releases tbody tr").count()));
  const used = await page.locator("#grid td").evaluateAll((all) => [...new Set(all.map((one) => one.className))]);
  for (const name of used) assert.ok((await page.locator(`#grid .legend i.${name}`).count()) > 0, `${name} is not in the legend`);
  const letters = { d: "k", r: "r", f: "f" };
  for (const name of used.filter((name) => name in letters)) {
    const texts = await page.locator(`#grid td.${name}`).evaluateAll((all) => [...new Set(all.map((one) => one.querySelector("sub")?.textContent))]);
    assert.deepEqual(texts, [letters[name]], name);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test("a statement leads to its case, with program, drawing, what is expected and what came, and how to repeat it", async () => {
  const { page, wrong, close } = await load();
  await page.locator("#false-sentences > details > summary").click();
  await page.locator(`#false-sentences a[href="#${CLAUSE}"]`).click();
  const clause = byId(page, CLAUSE);
  await clause.waitFor({ state: "visible" });
  await clause.locator("summary", { hasText: CASE }).click();
  const text = await byId(page, CASE).innerText();
  for (const part of ["add_", "✗ dimension 0", "dimension", MESSAGE, "documented", `--case ${CASE}`]) {
    assert.ok(text.includes(part), `${part} is missing in:\n${text}`);
  }
  await byId(page, CASE).scrollIntoViewIfNeeded();
  await shot(page, "desktop-case");
  // And on to the accepting case.
  await byId(page, CASE).locator('a[href="#in-place/shape-stays"]').click();
  await byId(page, "in-place/shape-stays").waitFor({ state: "visible" });
  assert.deepEqual(wrong, []);
  await close();
});

test("a link to a case opens it, also out of a search that does not show it", async () => {
  const { page, close } = await load({}, `#${CASE}`);
  await byId(page, CASE).waitFor({ state: "visible" });
  await search(page, "einsum");
  assert.equal(await byId(page, CASE).isVisible(), false);
  await page.evaluate(() => (location.hash = "#in-place/shape-stays"));
  await byId(page, "in-place/shape-stays").waitFor({ state: "visible" });
  await close();
});

test("without JavaScript everything but cases and tables can be read, and what is left out is named", async () => {
  const { page, close } = await load({ javaScriptEnabled: false });
  assert.equal(await page.locator("#search").isVisible(), false, "a search that does nothing");
  assert.ok(await page.locator("#false-sentences .fix").first().isVisible());
  assert.ok(await page.locator("#newest .changes > li").first().isVisible());
  assert.ok(await page.locator("#releases .sum tbody tr").first().isVisible());
  assert.ok(await page.locator("#implementations .sum tbody tr").first().isVisible());
  for (const group of await page.locator("#cases > .group").all()) {
    if ((await group.getAttribute("open")) === null) await group.locator("> summary").click();
  }
  assert.ok((await page.locator("#cases .s > summary:visible").count()) > 800);
  const section = page.locator('.s[data-w="false"]').first();
  await section.locator("summary").first().click();
  assert.match(await section.innerText(), /correction|since|in all|in \d/i);
  assert.ok(await page.getByText("broadcheck show CASE").isVisible());
  assert.equal(await page.locator(".later:visible").count(), 0, "a heading of nothing");
  await page.evaluate(() => scrollTo(0, 0));
  await shot(page, "desktop-without-javascript");
  await close();
});

for (const scheme of ["light", "dark"]) {
  test(`on a phone, ${scheme}: the page does not scroll sideways, and text stands out from its background`, async () => {
    const { page, wrong, close } = await load({ viewport: PHONE, colorScheme: scheme, isMobile: true, hasTouch: true });
    await shot(page, `phone-${scheme}`);
    const sideways = async (when) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${when}, the page is ${wide} pixels wider than the screen`);
    };
    await sideways("at first");
    for (const id of ["false-sentences", "newest", "releases", "implementations", "shares", "statements"]) {
      await byId(page, id).evaluate((one) => one.scrollIntoView());
      if (["shares", "statements"].includes(id)) await page.locator(`#${id} .grid`).waitFor();
      await shot(page, `phone-${scheme}-${id}`);
      await sideways(`at ${id}`);
    }
    // Tables scroll by themselves, and keep the names of their rows.
    const table = page.locator("#releases .wide");
    assert.ok(await table.evaluate((one) => one.scrollWidth > one.clientWidth), "the table is cut off");
    await table.evaluate((one) => (one.scrollLeft = 200));
    assert.ok((await page.locator("#releases tbody th").first().boundingBox()).x >= 0);
    await page.locator("#grid button").first().tap();
    const name = await page.locator("#grid tr[data-w] th").first().boundingBox();
    assert.ok(name.width > 120, `the names of statements have ${name.width} pixels`);
    const visible = ["body", ".lead", ".brand", ".m", ".facts .no b", ".says b", ".fix b", ".kind", ".w-true", ".w-unshowable", "a", "#hint", "button", ".sum td.t1", ".sum td.t2", ".sum small", "#shares td.t0", "#shares td.t4", "#shares td.t5", "#shares td.u", "#grid td.p", "#grid td.d", "#grid td.r", "#grid sub"];
    for (const selector of visible) {
      const ratio = await page.locator(selector).first().evaluate(contrast);
      assert.ok(ratio >= 4.5, `${selector} has a contrast of ${ratio.toFixed(2)}`);
    }
    const paper = await page.locator("body").evaluate((one) => getComputedStyle(one).backgroundColor.match(/\d+/g).map(Number));
    assert.ok(scheme === "dark" ? Math.max(...paper) < 60 : Math.min(...paper) > 230, `${scheme}: ${paper}`);
    // The search and its answers are on one screen.
    await search(page, "mm");
    await sideways("with results");
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, `phone-${scheme}-search`);
    const first = await page.locator("#found .s").first().boundingBox();
    assert.ok(first.y < PHONE.height * 0.6, `the first result is at ${first.y}`);
    await search(page, "");
    await page.locator("#false-sentences > details > summary").tap();
    await page.locator(`#false-sentences a[href="#${CLAUSE}"]`).tap();
    await byId(page, CLAUSE).locator("summary", { hasText: CASE }).tap();
    assert.ok(await byId(page, CASE).isVisible());
    await sideways("with a case");
    await shot(page, `phone-${scheme}-case`);
    assert.deepEqual(wrong, []);
    await close();
  });
}

test("on a desktop, dark", async () => {
  const { page, close } = await load({ colorScheme: "dark" });
  await shot(page, "desktop-dark");
  for (const id of ["newest", "releases", "implementations", "shares", "statements"]) {
    await byId(page, id).evaluate((one) => one.scrollIntoView());
    await page.waitForTimeout(100);
    await shot(page, `desktop-dark-${id}`);
  }
  await search(page, "mm");
  await shot(page, "desktop-dark-search");
  await close();
});
