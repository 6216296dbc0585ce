// What a browser makes of pages: called by scripts/page with a folder for screenshots and the pages.

import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.env.TOOLS, "any.js"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [out, ...pages] = process.argv.slice(2);
const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const WINDOWS = {
  light: { viewport: { width: 1200, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1200, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 380, height: 800 }, colorScheme: "light", deviceScaleFactor: 2 },
};
const A4 = { width: 673, height: 950 }; // what margins leave of a page
let problems = 0;

function check(isRight, what) {
  if (isRight) return;
  problems += 1;
  console.log(`  ${what}`);
}

// Open a page in a new profile; whatever the browser complains about, or asks for, is a problem.
async function open(file, options) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "page-"));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: ARGS, ...options,
  });
  const page = browser.pages()[0] ?? (await browser.newPage());
  const url = pathToFileURL(file).href;
  page.on("console", (message) => check(!["error", "warning"].includes(message.type()), `console: ${message.text()}`));
  page.on("pageerror", (error) => check(false, `error: ${error}`));
  page.on("request", (request) => check(request.url().split("#")[0] === url, `request: ${request.url().slice(0, 80)}`));
  page.on("dialog", (dialog) => { check(false, `dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(url);
  const close = async () => { await browser.close(); fs.rmSync(profile, { recursive: true, force: true }); };
  return { page, close };
}

async function checkAccess(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate((rules) => axe.run(document, { runOnly: rules }), RULES);
  for (const each of found.violations) check(false, `${name}: axe ${each.id}: ${each.help}: ${each.nodes[0].html.slice(0, 120)}`);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(wider <= 0, `${name}: the page is ${wider} pixels wider than the window`);
}

async function checkSorting(page) {
  const table = page.locator("table.sortable:visible:has(thead button)").first();
  if (!(await table.count())) return; // tables of two rows
  const button = table.locator("thead button").last();
  const head = table.locator("thead th").last();
  const group = await table.getAttribute("data-group");
  const orders = () => page.$$eval(`table[data-group="${group}"]`, (all) => all.map((each) =>
    [...each.tBodies[0].rows].map((row) => row.dataset.key).join("|")));
  for (const [order, sign] of [["descending", -1], ["ascending", 1]]) {
    await button.focus();
    await page.keyboard.press("Enter");
    check((await head.getAttribute("aria-sort")) === order, `sort: aria-sort is not ${order}`);
    const cells = await table.evaluate((each) => [...each.tBodies[0].rows].map((row) => [...row.cells].at(-1).dataset.value));
    const values = cells.filter((x) => x !== undefined).map(Number);
    check(cells.slice(values.length).every((x) => x === undefined), `sort: ${cells}: those without a value are not last`);
    check(values.every((x, i) => !i || sign * (x - values[i - 1]) >= 0), `sort: ${values} is not ${order}`);
    check(new Set(await orders()).size === 1, "sort: the blocks of the table have different orders");
    check((await page.textContent("#status")).includes(order), "sort: the order is not announced");
  }
}

async function checkFilter(page) {
  const boxes = await page.$$(".controls input");
  if (!boxes.length) return;
  const metric = await boxes[0].getAttribute("value");
  const seen = () => page.$$eval("[data-metric]", (all) => [...new Set(all.filter((each) =>
    each.offsetParent !== null).map((each) => each.dataset.metric))]);
  await boxes[0].uncheck();
  check(!(await seen()).includes(metric) && (await seen()).length === boxes.length - 1, `filter: ${metric} is not hidden alone`);
  for (const box of boxes) await box.setChecked(false);
  const left = await page.$$eval(".scroll:has([data-metric])", (all) => all.filter((each) => each.offsetParent).length);
  check(!left, `filter: ${left} tables are left without a metric`);
  for (const box of boxes) await box.setChecked(true);
  check((await seen()).length === boxes.length, "filter: metrics do not come back");
}

// Buttons put a text of the page on the clipboard, or where there is none, as without its API, select it.
async function checkCopying(page) {
  for (const [i, button] of (await page.locator(".copy:visible button").all()).entries()) {
    if (i === 1) await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    if (i === 2) await page.evaluate(() => { document.execCommand = () => false; });
    await button.click();
    await page.waitForFunction(() => /opied/.test(document.querySelector("#status").textContent));
    const [status, n] = [await page.textContent("#status"), await page.locator(".copy textarea").count()];
    check(i < 2 ? status.startsWith("Copied as") && !n : n === 1, `copy: ${status} ${n}`);
    if (i === 2) return;
  }
}

async function checkPaper(page) {
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize(A4);
  const cut = await page.$$eval(".scroll, pre, figure, dl", (all) => all.filter((each) =>
    each.scrollWidth > each.clientWidth + 1).map((each) => each.getAttribute("aria-label") ?? each.id ?? each.tagName));
  check(!cut.length, `cut on A4: ${cut.join("; ")}`);
}

for (const file of pages) {
  const stem = path.join(out, path.basename(file, ".html"));
  console.log(file);
  for (const [name, options] of Object.entries(WINDOWS)) {
    const { page, close } = await open(file, options);
    await page.screenshot({ path: `${stem}-${name}.png`, fullPage: true });
    await checkAccess(page, name);
    if (name === "light") {
      await checkSorting(page);
      await checkFilter(page);
      await checkCopying(page);
      await checkPaper(page);
    }
    await close();
  }
  const { page, close } = await open(file, { ...WINDOWS.dark, javaScriptEnabled: false });
  check(!(await page.isVisible(".controls")), "without scripts there is a filter that does nothing");
  await page.pdf({ path: `${stem}.pdf`, preferCSSPageSize: true });
  await close();
}
console.log(problems ? `${problems} problems` : "no problems");
process.exit(problems ? 1 : 0);
