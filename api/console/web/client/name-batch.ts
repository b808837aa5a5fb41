import type { Api } from "./api-client.ts";

/** As many as the API lists in one answer. */
const BATCH_MAX = 200;

type LoadNames = (ids: number[]) => Promise<ReadonlyMap<string, string>>;
type Waiting = {
  readonly ids: Set<number>;
  readonly answer: Promise<ReadonlyMap<string, string>>;
};

const waiting = new WeakMap<Api, Map<string, Waiting>>();

/**
 * The name of a record by its ID. A table asks for the names of all its rows at the same moment: they go into one request, so that
 * long tables do not use up the requests of the person. A record that the answer lacks keeps its ID.
 */
export async function nameInBatch(
  api: Api,
  kind: string,
  id: string,
  load: LoadNames,
): Promise<string> {
  const batches = waiting.get(api) ?? new Map<string, Waiting>();
  waiting.set(api, batches);
  const open = batches.get(kind);
  const batch =
    open === undefined || open.ids.size >= BATCH_MAX ? begun(batches, kind, load) : open;
  batch.ids.add(Number(id));
  return (await batch.answer).get(id) ?? `#${id}`;
}

function begun(batches: Map<string, Waiting>, kind: string, load: LoadNames): Waiting {
  const ids = new Set<number>();
  const batch: Waiting = { ids, answer: afterThisMoment().then(async () => await send()) };
  const send = async (): Promise<ReadonlyMap<string, string>> => {
    if (batches.get(kind) === batch) batches.delete(kind);
    return await load([...ids]);
  };
  batches.set(kind, batch);
  return batch;
}

async function afterThisMoment(): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
