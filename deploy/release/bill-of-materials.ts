import { createHash } from "node:crypto";
import { z } from "zod";

const Component = z.looseObject({
  "bom-ref": z.string(),
  name: z.string(),
  version: z.string(),
});
type Component = z.infer<typeof Component>;

/** A document in CycloneDX, as far as a release changes it. */
const Bom = z.looseObject({
  serialNumber: z.string().optional(),
  metadata: z.looseObject({ timestamp: z.string().optional(), component: Component }),
  components: z.array(Component).min(1),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
export type Bom = z.infer<typeof Bom>;

/**
 * What `npm sbom --sbom-format cyclonedx` printed for the product, without packages that are not installed, such as ones for other machines, and
 * with the time of the commit, so that the same release has the same document. `isInstalled` gets `<name>@<version>`.
 */
export function readBom(
  text: string,
  date: string,
  isInstalled: (component: string) => boolean,
): Bom {
  const bom = Bom.parse(JSON.parse(text));
  const { component } = bom.metadata;
  const components = bom.components.filter(({ name, version }) =>
    isInstalled(`${name}@${version}`),
  );
  const refs = new Set([component, ...components].map((one) => one["bom-ref"]));
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map((one) => ({ ...one, dependsOn: one.dependsOn.filter((ref) => refs.has(ref)) }));
  // npm takes the name of the folder.
  const metadata = {
    ...bom.metadata,
    timestamp: date,
    component: { ...component, name: "tracker" },
  };
  return withSerial({ ...bom, metadata, components, dependencies });
}

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ name: z.string().optional(), version: z.string().optional() }),
  ),
});

/** `<name>@<version>` of the packages of a package-lock.json whose folders are there. A package under another name has both names. */
export function installedPackages(
  lock: string,
  isThere: (folder: string) => boolean,
): ReadonlySet<string> {
  const { packages } = Lock.parse(JSON.parse(lock));
  return new Set(
    Object.entries(packages).flatMap(([folder, { name, version = "" }]) => {
      if (folder === "" || !isThere(folder)) return [];
      const installed = folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
      return [installed, name ?? installed].map((one) => `${one}@${version}`);
    }),
  );
}

/** The same with the packages of the image's system. `status` is its /var/lib/dpkg/status. */
export function withDebianPackages(bom: Bom, status: string): Bom {
  const packages = status
    .split("\n\n")
    .filter((entry) => /^Status: install ok installed$/m.test(entry))
    .map(debianComponent);
  return withSerial({ ...bom, components: [...bom.components, ...packages] });
}

function debianComponent(entry: string): Component {
  const field = (name: string): string => new RegExp(`^${name}: (.+)$`, "m").exec(entry)?.[1] ?? "";
  const [name, version] = [field("Package"), field("Version")];
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${field("Architecture")}`;
  return { type: "library", "bom-ref": purl, name, version, purl };
}

/** A number that says what is in it. */
function withSerial(bom: Bom): Bom {
  const { serialNumber: _, ...rest } = bom;
  const hex = createHash("sha256").update(JSON.stringify(rest)).digest("hex");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return { ...bom, serialNumber: `urn:uuid:${parts.join("-")}-${hex.slice(20, 32)}` };
}
