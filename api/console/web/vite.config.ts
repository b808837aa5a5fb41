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
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What most screens share, in few files: left alone, each set of screens that shares a module makes a file of its own,
          // and a cold dashboard made 32 requests.
          groups: [
            { name: "base", test: /node_modules\/(react|react-dom|scheduler|@tanstack)\// },
            { name: "icons", test: /node_modules\/lucide/, minShareCount: 2 },
            {
              name: "charts",
              // Lists of the staff name figures that nobody else knows.
              test: /console\/web\/(address|client|member|plots|screens\/charts)\/(?!figure-columns|row-figures|ranking-link|record-sums)/,
              minShareCount: 2,
            },
            {
              // The dashboard of the staff loads all of them. What partners load, too, stays out, or they would load this file.
              name: "staff-parts",
              includeDependenciesRecursively: false,
              test: /console\/web\/screens\/(dashboard\/(waiting-list|movers)|inbox\/waiting-place|offers\/cap-meters)\./,
            },
            {
              name: "parts",
              test: /console\/web\/(figures|format|parts|range)\//,
              minShareCount: 8,
            },
          ],
        },
      },
    },
  },
});
