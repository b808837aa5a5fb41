/** `npm run servers:write`: writes the files of deploy/servers/ that are made from the sources. */
import { writeFileSync } from "node:fs";
import { projectFile } from "../schemas/host/project-root.ts";
import { permissionsFile, WRITTEN_BY } from "../schemas/nats/permissions-file.ts";

writeFileSync(
  projectFile("deploy", "servers", "nats", "permissions.conf"),
  permissionsFile({ prefix: "" }, WRITTEN_BY),
);
