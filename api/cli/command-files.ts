import type { Command } from "./command.ts";

/** The commands of one file. It is loaded only when it is needed: all of them together take half a second. */
export type CommandFile = {
  /** The first words of its commands. */
  readonly words: readonly string[];
  readonly load: () => Promise<readonly Command[]>;
};

/** Every file with commands, in the order of the help. */
export const COMMAND_FILES: readonly CommandFile[] = [
  {
    words: ["migrate"],
    load: async () => [(await import("./migrate-command.ts")).migrateCommand],
  },
  {
    words: ["restored"],
    load: async () => [(await import("./restored-command.ts")).restoredCommand],
  },
  {
    words: ["backup", "restore"],
    load: async () => (await import("./backup-commands.ts")).backupCommands,
  },
  {
    words: ["deliveries"],
    load: async () => (await import("./delivery-commands.ts")).deliveryCommands,
  },
  {
    words: ["installation", "clone-reset"],
    load: async () => (await import("./identity-commands.ts")).identityCommands,
  },
  {
    words: ["streams"],
    load: async () => (await import("./stream-commands.ts")).streamCommands,
  },
  {
    words: ["lanes"],
    load: async () => (await import("./lane-commands.ts")).laneCommands,
  },
  {
    words: ["clickhouse"],
    load: async () => (await import("./clickhouse-commands.ts")).clickhouseCommands,
  },
  {
    words: ["producer"],
    load: async () => (await import("./producer-commands.ts")).producerCommands,
  },
  {
    words: ["journal"],
    load: async () => (await import("./journal-commands.ts")).journalCommands,
  },
  {
    words: ["workspace"],
    load: async () => (await import("./workspace-commands.ts")).workspaceCommands,
  },
  { words: ["key"], load: async () => (await import("./key-commands.ts")).keyCommands },
  { words: ["user"], load: async () => (await import("./user-commands.ts")).userCommands },
  { words: ["domain"], load: async () => (await import("./domain-commands.ts")).domainCommands },
  {
    words: ["domains"],
    load: async () => [(await import("./domain-manifests.ts")).domainManifests],
  },
  {
    words: ["offer", "affiliate", "advertiser", "smart-link", "postback", "webhook"],
    load: async () => (await import("./record-commands.ts")).recordCommands,
  },
  {
    words: ["offer", "affiliate", "advertiser"],
    load: async () => (await import("./import/import-commands.ts")).importCommands,
  },
  {
    words: ["conversion"],
    load: async () => (await import("./conversion-commands.ts")).conversionCommands,
  },
  { words: ["person"], load: async () => (await import("./person-commands.ts")).personCommands },
  {
    words: ["person"],
    load: async () => (await import("./erasure-commands.ts")).erasureCommands,
  },
  {
    words: ["status"],
    load: async () => [(await import("./status/status-command.ts")).statusCommand],
  },
  { words: ["audit"], load: async () => [(await import("./audit/audit-command.ts")).auditCommand] },
  {
    words: ["doctor"],
    load: async () => [(await import("./doctor/doctor-command.ts")).doctorCommand],
  },
  { words: ["secrets"], load: async () => (await import("./secret-commands.ts")).secretCommands },
  {
    words: ["blocklist", "fx-rates"],
    load: async () => (await import("./installation-commands.ts")).installationCommands,
  },
  { words: ["demo"], load: async () => (await import("./demo-command.ts")).demoCommands },
  { words: ["mcp"], load: async () => [(await import("./mcp-command.ts")).mcpCommand] },
];

/** The commands that begin with this word. */
export async function commandsFrom(word: string): Promise<Command[]> {
  return await loaded(COMMAND_FILES.filter(({ words }) => words.includes(word)));
}

export async function allCommands(): Promise<Command[]> {
  return await loaded(COMMAND_FILES);
}

async function loaded(files: readonly CommandFile[]): Promise<Command[]> {
  return (await Promise.all(files.map(async ({ load }) => await load()))).flat();
}
