import { type Fault, type Judgement, refuses, warns } from "./finding.ts";

export type SecretKeyFacts = {
  /** Ids of the keys of the ring. */
  readonly ids: readonly string[];
  /** How many sealed values each key has, by its id. */
  readonly counts: ReadonlyMap<string, number>;
  /** Files of the ring that others than their owner may read. */
  readonly open: readonly string[];
};

export function judgeSecretKeys({ ids, counts, open }: SecretKeyFacts): Judgement {
  const faults: Fault[] = open.map((file) =>
    refuses(`${file} can be read by other users of this host: run \`chmod 600 ${file}\`.`),
  );
  if (ids.length === 0 && counts.size > 0)
    return { faults: [...faults, warns("SECRETS_KEY is not set here: run this as the api runs.")] };
  for (const [id, count] of counts) {
    if (ids.includes(id)) continue;
    faults.push(refuses(`${count} values are sealed under ${id}, which is no key of SECRETS_KEY`));
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const older = ids.slice(1).filter((id) => counts.has(id));
  const well = `${total} sealed values, each with a key of the ring`;
  return {
    faults,
    well:
      older.length === 0 ? well : `${well}; \`tracker secrets rotate\` ends the use of older keys`,
  };
}
