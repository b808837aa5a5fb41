/** `npm run servers:write`: writes the files of deploy/servers/ that are made from the sources. */
import { writeFileSync } from "node:fs";
import { projectFile } from "../schemas/host/project-root.ts";
import { natsPermissions } from "./nats-permissions.ts";

writeFileSync(projectFile("deploy", "servers", "nats", "permissions.conf"), natsPermissions());
