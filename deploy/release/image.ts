import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isInstalled, outputOf, ReleaseError } from "./run-program.ts";
import type { Release } from "./version.ts";

export type ImageOptions = {
  /** Further options of the build, such as `--build-arg=BASE=…`. */
  readonly options: readonly string[];
};

const CONTAINERFILE = "deploy/image/Containerfile";

/**
 * Builds the image and writes it into an OCI archive, which `skopeo copy oci-archive:FILE docker://…` and `podman load` take. Returns the list of its
 * system's packages. @throws {ReleaseError} without a program that builds images.
 */
export function buildImage(
  file: string,
  { version, commit }: Release,
  { options }: ImageOptions,
): string {
  const tag = `localhost/tracker:${version}`;
  const args = ["--file", CONTAINERFILE, "--tag", tag, ...options];
  const labels = ["--build-arg", `VERSION=${version}`, "--build-arg", `REVISION=${commit}`];
  if (isInstalled("buildah")) return withBuildah(file, tag, [...args, ...labels]);
  const program = ["podman", "docker"].find(isInstalled);
  if (program === undefined)
    throw new ReleaseError(
      "no program here builds images: install buildah, podman or docker, or release without one by --no-image",
    );
  outputOf(program, ["build", ...args, ...labels, "."]);
  const save = program === "podman" ? ["save", "--format", "oci-archive"] : ["save"];
  outputOf(program, [...save, "--output", file, tag]);
  const cat = ["run", "--rm", "--entrypoint", "cat", tag, "/var/lib/dpkg/status"];
  return outputOf(program, cat);
}

/** buildah needs no daemon, and reads an image without running it. */
function withBuildah(file: string, tag: string, args: readonly string[]): string {
  outputOf("buildah", ["build", ...args, "."]);
  rmSync(file, { force: true });
  outputOf("buildah", ["push", "--quiet", tag, `oci-archive:${file}:${tag}`]);
  const container = outputOf("buildah", ["from", "--pull-never", tag]).trim();
  try {
    const root = outputOf("buildah", ["mount", container]).trim();
    return readFileSync(join(root, "var", "lib", "dpkg", "status"), "utf8");
  } finally {
    outputOf("buildah", ["rm", container]);
  }
}
