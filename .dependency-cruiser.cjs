// The direction of dependencies. Every rule is an error; test/architecture proves that each one finds its fault.

const product = "^(ingress|processors|api|schemas|deploy)/";
const unitTest = "[.]test[.]tsx?$";

/** Folders of schemas/ that speak to an outside system. Every other folder there is a word: pure, no clock, no socket. */
const wires =
  "nats|postgres|clickhouse|billing|catalog-feed|facts|installation|checks|outgoing|host|erasure|click-lookup|versions|tracing|secrets";

/** What a word may import besides words: schemas and pure functions. No file, no clock, no socket behind any of them. */
const pureModules = "^(node:)?(assert|crypto)$|node_modules/zod/";

/** Each driver, and the only place that loads it. Elsewhere `import type` at most. */
const drivers = [
  { name: "pg", module: "node_modules/pg/", home: "^schemas/postgres/" },
  { name: "clickhouse", module: "node_modules/@clickhouse/", home: "^schemas/clickhouse/" },
  { name: "nats", module: "node_modules/@nats-io/", home: "^schemas/nats/" },
  { name: "uwebsockets", module: "node_modules/uWebSockets[.]js/", home: "^ingress/server[.]ts$" },
  {
    name: "opentelemetry",
    module: "node_modules/@opentelemetry/",
    home: "^schemas/tracing/otlp-tracing[.]ts$",
  },
  {
    name: "ffi",
    module: "node_modules/ffi-rs/",
    home: "^(deploy/local/|ingress/journal/|schemas/host/(c-library|systemd-watchdog)[.]ts$)",
  },
];

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      comment: "Move what both need into a file of its own.",
      from: {},
      to: { circular: true },
    },
    {
      name: "schemas-knows-no-process",
      severity: "error",
      comment: "schemas/ is the bottom layer: it imports no other folder of ours.",
      from: { path: "^schemas/" },
      to: { path: "^(ingress|processors|api|deploy)/" },
    },
    {
      name: "processes-are-strangers",
      severity: "error",
      comment: "What two processes must agree on belongs in schemas/.",
      from: { path: "^(ingress|processors|api|deploy)/", pathNot: "^deploy/tracker[.]ts$" },
      to: { path: "^(ingress|processors|api|deploy)/", pathNot: "^$1/" },
    },
    {
      name: "tracker-runs-programs",
      severity: "error",
      comment: "The one program imports whole programs, which run when they are imported.",
      from: { path: "^deploy/tracker[.]ts$" },
      to: { path: "^(ingress|processors|api)/", pathNot: "^[a-z]+/(main|tracker)[.]ts$" },
    },
    {
      name: "words-do-no-io",
      severity: "error",
      comment:
        "A folder of schemas/ that is no wire imports words and pure modules only. " +
        "A new wire is added to `wires` in .dependency-cruiser.cjs, a new pure module to `pureModules`.",
      from: { path: "^schemas/", pathNot: [`^schemas/(${wires})/`, unitTest] },
      to: { path: ".", pathNot: [`^schemas/(?!(${wires})/)`, pureModules] },
    },
    {
      name: "client-stands-alone",
      severity: "error",
      comment: "The TypeScript client is packed without the service and has no dependencies.",
      from: { path: "^api/docs/clients/typescript/" },
      to: { path: ".", pathNot: "^api/docs/clients/typescript/" },
    },
    {
      name: "console-is-a-client",
      severity: "error",
      comment:
        "What runs in the browser knows the service by its API, and shares words of schemas/.",
      from: { path: "^api/console/web/" },
      to: { path: "^(ingress|processors|api|deploy)/", pathNot: "^api/console/web/" },
    },
    {
      name: "service-imports-no-page",
      severity: "error",
      comment: "The console is built by vite and served as files.",
      from: { path: "^(ingress|processors|api|schemas|deploy)/", pathNot: "^api/console/web/" },
      to: { path: "^api/console/web/" },
    },
    {
      name: "roles-are-strangers",
      severity: "error",
      comment: "A role knows itself alone. processors/main.ts puts roles together.",
      from: { path: "^processors/([^/]+)/" },
      to: { path: "^processors/([^/]+)/", pathNot: "^processors/$1/" },
    },
    {
      name: "request-knows-no-neighbour",
      severity: "error",
      comment:
        "Reading a request comes before everything that ingress makes of it: others import ingress/request.",
      from: { path: "^ingress/request/" },
      to: { path: "^ingress/[^/]+/", pathNot: "^ingress/request/" },
    },
    {
      name: "settings-only-in-main",
      severity: "error",
      comment:
        "main reads the settings and hands each part what it needs; elsewhere `import type`.",
      from: { path: product, pathNot: ["(^|/)main[.]ts$", "^api/tracker[.]ts$", unitTest] },
      to: { path: "(^|/)settings[.]ts$", dependencyTypesNot: ["type-only"] },
    },
    ...drivers.map(({ name, module: driver, home }) => ({
      name: `driver-behind-its-wire-${name}`,
      severity: "error",
      comment: `Only ${home} loads this driver; elsewhere use \`import type\`.`,
      from: { path: product, pathNot: home },
      to: { path: driver, dependencyTypesNot: ["type-only"] },
    })),
    {
      name: "product-imports-no-test",
      severity: "error",
      from: { path: product, pathNot: unitTest },
      to: { path: `^test/|${unitTest}` },
    },
    {
      name: "unit-tests-need-no-server",
      severity: "error",
      comment:
        "A test that needs test/services or test/system belongs in test/integration or test/deep.",
      from: { path: `${product}.*${unitTest}` },
      to: { path: `^test/(?!samples/)|${unitTest}` },
    },
    {
      name: "test-system-knows-no-replay",
      severity: "error",
      comment: "test/system is what the replay and other tests drive the service with.",
      from: { path: "^test/system/" },
      to: { path: "^test/replay/" },
    },
    {
      name: "product-needs-no-dev-dependency",
      severity: "error",
      comment: "It would be missing where the product is installed with --omit=dev.",
      from: { path: product, pathNot: [unitTest, "^api/console/web/"] },
      to: {
        dependencyTypes: ["npm-dev"],
        dependencyTypesNot: ["type-only"],
        pathNot: "node_modules/@types/",
      },
    },
    {
      name: "dependency-is-declared",
      severity: "error",
      comment: "package.json names every module that is imported, in one list only.",
      from: {},
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "everything-resolves",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-junk-drawer",
      severity: "error",
      comment: "Name the file for what it holds, and import that file: no drawers, no barrels.",
      from: {},
      to: {
        path: "/(utils|util|helpers|helper|common|shared|misc|lib|core|types|constants|index)([.]ts$|/)",
        pathNot: "node_modules/",
      },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)[.](build|data)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    exoticRequireStrings: ["require"],
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "require", "default", "types"],
      mainFields: ["module", "main", "types"],
      extensions: [".ts", ".tsx", ".js", ".cjs", ".mjs", ".json", ".d.ts"],
    },
    cache: false,
  },
};
