type Archive = {
  readonly isSealed: boolean;
  /** The archive has the file that opens the second factors in its Postgres. */
  readonly hasConsoleSecret: boolean;
  /** The archive has the file that opens the payment details in its Postgres. */
  readonly hasSecretsKey: boolean;
};

/** The last line of `tracker backup`: what the file would give to somebody who steals it. */
export function worthToThief({ isSealed, hasConsoleSecret, hasSecretsKey }: Archive): string {
  if (isSealed) {
    return (
      "It is sealed: without the passphrase a thief learns its size and its age, and with it everything. " +
      "Nobody can restore it without the passphrase: keep that in another place."
    );
  }
  const factors = hasConsoleSecret
    ? ", hashes of passwords, and every second factor (console.secret)"
    : " and hashes of passwords";
  return (
    "It is not sealed: a thief has visitors' addresses, clicks and conversions, postback tokens, webhook secrets, keys and links of the demo, " +
    `the secret of click ids${factors}${hasSecretsKey ? ", payment details of partners (secrets.key)" : ""}. Keep it as you keep those, or seal it: BACKUP_PASSPHRASE_FILE.`
  );
}
