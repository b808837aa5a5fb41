import { resolve } from "node:path";
import { defineConfig } from "vite";

const ROOT = import.meta.dirname;

export default defineConfig({
  root: ROOT,
  base: "/console/",
  // `npm run console:dev`: the page from here, everything else from a running service.
  server: { proxy: { "/api": "http://127.0.0.1:8081" } },
  oxc: { jsx: { runtime: "automatic" } },
  resolve: {
    // Money asserts its invariants; browsers have no such module.
    alias: { "node:assert": resolve(ROOT, "format/assert.ts") },
  },
  build: {
    target: ["chrome111", "firefox121", "safari16.4"],
    // The last build's files stay for open tabs.
    emptyOutDir: false,
    manifest: true,
    sourcemap: false,
    modulePreload: { polyfill: false },
    // A data: URL of a font or icon would need `font-src data:`.
    assetsInlineLimit: 0,
  },
});
