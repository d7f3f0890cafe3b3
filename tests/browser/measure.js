// Prints the size of the page, and how long it takes on a phone whose processor is four times slower than this one until
// the search answers a typed letter: from the start of the navigation to the frame that shows the answer.
import { statSync } from "node:fs";
import { FILE, PAGE, PHONE, launch } from "./browser.js";

const RUNS = Number(process.env.RUNS ?? 7);
const SLOWER = Number(process.env.SLOWER ?? 4);

/** In the page: types a letter as soon as the search is there, and keeps the time of each moment. */
const watch = () => {
  const moments = (window.moments = {});
  const at = (name) => (moments[name] ??= performance.now());
  new MutationObserver(() => {
    const form = document.querySelector("form[role=search]");
    if (!form) return;
    at("markup");
    if (!form.hidden && !moments.typed) {
      at("typed");
      form.q.value = "m";
      form.q.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }
    if (moments.typed && form.querySelector("output").textContent && !moments.answered) {
      at("answered");
      requestAnimationFrame(() => setTimeout(() => at("painted")));
    }
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
};

const browser = await launch();
const times = [];
for (let run = 0; run < RUNS; run++) {
  const context = await browser.newContext({ viewport: PHONE, isMobile: true, hasTouch: true });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  await page.addInitScript(watch);
  await page.goto(PAGE);
  await page.waitForFunction(() => window.moments.painted);
  times.push(await page.evaluate(() => window.moments));
  await context.close();
}
await browser.close();

const median = (name) => times.map((one) => one[name]).sort((a, b) => a - b)[Math.floor(times.length / 2)].toFixed(0);
const worst = Math.max(...times.map((one) => one.painted)).toFixed(0);
console.log(`size: ${statSync(FILE).size} bytes`);
console.log(`processor ${SLOWER} times slower, median of ${RUNS}: search is there after ${median("typed")} ms, answers a letter after ${median("painted")} ms (slowest ${worst} ms)`);
