import { auditCommand } from "./audit/audit-command.ts";
import { backupCommands } from "./backup-commands.ts";
import type { Command } from "./command.ts";
import { deliveryCommands } from "./delivery-commands.ts";
import { demoCommand } from "./demo-command.ts";
import { doctorCommand } from "./doctor/doctor-command.ts";
import { domainCommands } from "./domain-commands.ts";
import { domainManifests } from "./domain-manifests.ts";
import { erasureCommands } from "./erasure-commands.ts";
import { identityCommands } from "./identity-commands.ts";
import { importCommands } from "./import/import-commands.ts";
import { installationCommands } from "./installation-commands.ts";
import { journalCommands } from "./journal-commands.ts";
import { keyCommands } from "./key-commands.ts";
import { mcpCommand } from "./mcp-command.ts";
import { migrateCommand } from "./migrate-command.ts";
import { personCommands } from "./person-commands.ts";
import { producerCommands } from "./producer-commands.ts";
import { restoredCommand } from "./restored-command.ts";
import { statusCommand } from "./status/status-command.ts";
import { streamCommands } from "./stream-commands.ts";
import { userCommands } from "./user-commands.ts";
import { workspaceCommands } from "./workspace-commands.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  migrateCommand,
  restoredCommand,
  ...backupCommands,
  ...deliveryCommands,
  ...identityCommands,
  ...streamCommands,
  ...producerCommands,
  ...journalCommands,
  ...workspaceCommands,
  ...keyCommands,
  ...userCommands,
  ...domainCommands,
  domainManifests,
  ...personCommands,
  ...erasureCommands,
  ...importCommands,
  statusCommand,
  auditCommand,
  doctorCommand,
  ...installationCommands,
  demoCommand,
  mcpCommand,
];
