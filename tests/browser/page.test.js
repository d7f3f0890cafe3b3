// Loads the index.html of `broadcheck report` in a real browser, from the file and with no network, and looks around in it:
// filter, links, cases; without JavaScript; on a phone; light and dark. CHROMIUM names the browser, PAGE the page, SHOTS a
// folder for screenshots.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const PAGE = pathToFileURL(resolve(process.env.PAGE ?? join(import.meta.dirname, "../../reports/index.html"))).href;
const SHOTS = process.env.SHOTS;
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
// The case of README.md, its statement, and what libtorch says.
const CASE = "in-place/shape-would-change";
const CLAUSE = "in-place-message";
const MESSAGE = "output with shape [1, 3, 1] doesn't match the broadcast shape [3, 3, 7]";

let browser;

before(async () => {
  if (SHOTS) mkdirSync(SHOTS, { recursive: true });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    env: { ...process.env, HOME: mkdtempSync(join(tmpdir(), "browser-")) },
  });
});

after(() => browser?.close());

/** A page that has been loaded; whatever it asks of anybody else, and every error in it, is kept. */
async function load(options = {}, fragment = "") {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && wrong.push(`console: ${message.text()}`));
  page.on("request", (request) => /^(file|data):/.test(request.url()) || wrong.push(`request: ${request.url()}`));
  await page.goto(PAGE + fragment);
  if (options.javaScriptEnabled !== false) await page.locator("#filter").waitFor({ state: "visible" });
  return { page, wrong, close: () => context.close() };
}

async function shot(page, name) {
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

const byId = (page, id) => page.locator(`[id="${id}"]`);

/** The lightness of a colour, from 0 to 1. */
const lightness = (colour) => {
  const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
};

test("the page needs nothing but itself, and has a cell for each statement and implementation", async () => {
  const { page, wrong, close } = await load();
  const columns = await page.locator("#releases .sum tbody tr").count();
  assert.ok(columns > 0, "no implementation");
  const rows = await page.locator(".grid tr[data-w]").count();
  assert.ok(rows > 300, `${rows} statements`);
  assert.equal(await page.locator(".grid tr[data-w] td").count(), rows * columns);
  assert.equal(await page.locator("#cases > .s").count(), rows);
  assert.deepEqual(wrong, []);
  await shot(page, "desktop-light");
  await close();
});

test("other libraries stand beside libtorch, with what they do otherwise and the case that shows it", async () => {
  const { page, wrong, close } = await load();
  const libraries = await page.locator("#implementations > .wide tbody tr").count();
  assert.ok(libraries > 12, `${libraries} libraries`);
  const list = page.locator("#differences > details", { hasText: "numpy" }).last();
  await list.locator("summary").click();
  await list.locator("dd a").first().waitFor({ state: "visible" });
  await page.locator("#implementations").scrollIntoViewIfNeeded();
  await shot(page, "desktop-implementations");
  assert.deepEqual(wrong, []);
  await close();
});

test("a statement leads to its case, with program, drawing, what is expected and what came, and how to repeat it", async () => {
  const { page, wrong, close } = await load();
  await page.locator(`.grid a[href="#${CLAUSE}"]`).click();
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

test("a link to a case opens it", async () => {
  const { page, close } = await load({}, `#${CASE}`);
  await byId(page, CASE).waitFor({ state: "visible" });
  await close();
});

test("the filter leaves what it is asked for", async () => {
  const { page, wrong, close } = await load();
  const visible = () => page.locator(".grid tr[data-w]:visible").count();
  const all = await visible();
  await page.getByLabel("Filter").fill("einsum");
  await page.waitForFunction((all) => document.querySelectorAll(".grid tr[data-w]:not(.off)").length < all, all);
  const some = await visible();
  assert.ok(some > 0 && some < all / 2, `${some} of ${all}`);
  assert.match(await page.locator("output").innerText(), /^\d+ statements, \d+ cases$/);
  await shot(page, "desktop-filter");

  await page.getByLabel("Filter").fill("");
  await page.getByLabel("Show").selectOption("x");
  await page.waitForFunction(() => document.querySelectorAll('.grid tr[data-w="true"]:not(.off)').length === 0);
  assert.ok((await visible()) > 0, "no statement is false");
  await page.getByLabel("Filter").fill("quantum chromodynamics");
  await page.waitForFunction(() => document.querySelectorAll(".grid tr[data-w]:not(.off)").length === 0);
  assert.match(await page.locator("output").innerText(), /^0 statements, 0 cases$/);
  // The address keeps it.
  await page.reload();
  await page.locator("#filter").waitFor({ state: "visible" });
  assert.equal(await page.getByLabel("Filter").inputValue(), "quantum chromodynamics");
  assert.equal(await visible(), 0);
  assert.deepEqual(wrong, []);
  await close();
});

test("without JavaScript releases, libraries and statements can be read, and what is left out is named", async () => {
  const { page, close } = await load({ javaScriptEnabled: false });
  assert.equal(await page.locator("#filter").isVisible(), false, "a filter that does nothing");
  assert.ok(await page.locator("#releases .sum tbody tr").first().isVisible());
  assert.ok(await page.locator("#implementations .sum tbody tr").first().isVisible());
  assert.ok((await page.locator("#cases > .s > summary:visible").count()) > 800);
  const section = page.locator('.s[data-w="false"]').first();
  await section.locator("summary").first().click();
  assert.match(await section.innerText(), /Correction to propose|since|in all|in \d/i);
  assert.ok(await page.getByText("broadcheck show CASE").isVisible());
  await shot(page, "desktop-without-javascript");
  await close();
});

for (const scheme of ["light", "dark"]) {
  test(`on a phone, ${scheme}: nothing sticks out, and text stands out from its background`, async () => {
    const { page, wrong, close } = await load({ viewport: PHONE, colorScheme: scheme, isMobile: true, hasTouch: true });
    await shot(page, `phone-${scheme}`);
    await page.locator("#statements").scrollIntoViewIfNeeded();
    await shot(page, `phone-${scheme}-grid`);
    const name = await page.locator(".grid tr[data-w] th").first().boundingBox();
    assert.ok(name.width > 120, `the names of statements have ${name.width} pixels`);
    await page.locator(`.grid a[href="#${CLAUSE}"]`).tap();
    await byId(page, CLAUSE).locator("summary", { hasText: CASE }).tap();
    assert.ok(await byId(page, CASE).isVisible());
    await shot(page, `phone-${scheme}-case`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);

    const style = (selector) => page.locator(selector).first().evaluate((one) => {
      const { color, backgroundColor } = getComputedStyle(one);
      return [color, backgroundColor];
    });
    const [ink, paper] = (await style("body")).map(lightness);
    assert.ok(scheme === "dark" ? paper < 0.2 && ink > 0.8 : paper > 0.8 && ink < 0.2, `${ink} on ${paper}`);
    for (const cell of [".grid td.p", ".grid td.d"]) {
      const [sign, ground] = (await style(cell)).map(lightness);
      assert.ok(Math.abs(sign - ground) > 0.35, `${cell}: ${sign} on ${ground}`);
    }
    assert.deepEqual(wrong, []);
    await close();
  });
}

test("on a desktop, dark", async () => {
  const { page, close } = await load({ colorScheme: "dark" });
  await shot(page, "desktop-dark");
  await page.locator("#statements").scrollIntoViewIfNeeded();
  await shot(page, "desktop-dark-grid");
  await close();
});
