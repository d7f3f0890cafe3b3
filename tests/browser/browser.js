// What tests and measurements share: the browser, and the page in it. CHROMIUM names the browser, PAGE the page.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const FILE = resolve(process.env.PAGE ?? join(import.meta.dirname, "../../reports/index.html"));
export const PAGE = pathToFileURL(FILE).href;
export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    env: { ...process.env, HOME: mkdtempSync(join(tmpdir(), "browser-")) },
  });
