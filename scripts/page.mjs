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
  light: { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 380, height: 800 }, colorScheme: "light", deviceScaleFactor: 2 },
};
const A4 = { width: 688, height: 1000 }; // what margins leave of a page
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

async function checkPaper(page) {
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize(A4);
  const cut = await page.$$eval(".scroll, pre, figure, dl", (all) => all.filter((each) =>
    each.scrollWidth > each.clientWidth + 1).map((each) => each.getAttribute("aria-label") ?? each.id ?? each.tagName));
  check(!cut.length, `cut on A4: ${cut.join("; ")}`);
  const closed = await page.$$eval("details", (all) => all.filter((each) => each.offsetHeight < 40).length);
  check(!closed, `${closed} folded parts are not on paper`);
}

for (const file of pages) {
  const stem = path.join(out, path.basename(file, ".html"));
  console.log(file);
  for (const [name, options] of Object.entries(WINDOWS)) {
    const { page, close } = await open(file, options);
    await page.screenshot({ path: `${stem}-${name}.png`, fullPage: true });
    await checkAccess(page, name);
    if (name === "light") await checkPaper(page);
    await close();
  }
  const { page, close } = await open(file, { ...WINDOWS.dark, javaScriptEnabled: false });
  await page.pdf({ path: `${stem}.pdf`, preferCSSPageSize: true });
  await close();
}
console.log(problems ? `${problems} problems` : "no problems");
process.exit(problems ? 1 : 0);
