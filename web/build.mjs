// SPDX-License-Identifier: GPL-2.0-only
//
// Builds dist/page.html, the page without data, from src/: one file with its style and its script.
//
//   node build.mjs            write dist/page.html and LICENSES
//   node build.mjs --check    fail if they differ from what the sources give
//
// The content security policy names both by their digests, so that nothing else can run.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const libraries = ["d3-hierarchy", "uplot"];

async function bundle(entry, loader) {
	const result = await build({
		absWorkingDir: here,
		entryPoints: [entry],
		bundle: true,
		minify: true,
		write: false,
		format: loader === "js" ? "iife" : undefined,
		target: ["chrome100", "firefox102"],
		charset: "ascii",
		legalComments: "none",
	});
	return result.outputFiles[0].text.trim();
}

function digest(text) {
	return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

async function makePage() {
	const style = await bundle("src/page.css", "css");
	// "</script" would end the element.
	const script = (await bundle("src/main.js", "js")).replaceAll("</script", "<\\/script");
	const policy = [
		"default-src 'none'",
		`script-src ${digest(script)}`,
		`style-src ${digest(style)}`,
		"img-src data:",
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
	].join("; ");
	return readFileSync(join(here, "src/page.html"), "utf8")
		.replace("@POLICY@", () => policy)
		.replace("@STYLE@", () => style)
		.replace("@SCRIPT@", () => script);
}

// The licences of the libraries in the bundle.
function makeLicenses() {
	const parts = libraries.map((name) => {
		const folder = join(here, "node_modules", name);
		const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
		const text = readFileSync(join(folder, "LICENSE"), "utf8").trim();
		return `${name} ${version} (${license})\n\n${text}\n`;
	});
	return `The page of dcpireport contains these libraries.\n\n${parts.join("\n----\n\n")}`;
}

const made = { "dist/page.html": await makePage(), LICENSES: makeLicenses() };
let status = 0;

mkdirSync(join(here, "dist"), { recursive: true });
for (const [name, text] of Object.entries(made)) {
	const path = join(here, name);
	if (!process.argv.includes("--check")) {
		writeFileSync(path, text);
		console.log(`${name}: ${text.length} bytes`);
	} else if (readFileSync(path, "utf8") !== text) {
		console.error(`${name} is not what its sources give: run "npm run build" in web/`);
		status = 1;
	}
}
process.exit(status);
