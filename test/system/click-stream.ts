import { decodeBatch } from "../../schemas/events/click-batch.ts";
import { connectNats, type Nats } from "../../schemas/nats/connect.ts";
import { streamOfLane } from "../../schemas/nats/lane-groups.ts";
import { serversOf } from "./servers-of.ts";

/** The click stream of a one-machine run, for tests that read or damage it. */
export class ClickStream {
  readonly #nats: Nats;

  private constructor(nats: Nats) {
    this.#nats = nats;
  }

  static async open(dataDir: string): Promise<ClickStream> {
    const { nats: url } = await serversOf({ dataDir });
    return new ClickStream(await connectNats({ url, name: "test", prefix: "" }));
  }

  async lastSeq(): Promise<number> {
    const manager = await this.#nats.manager();
    return (await manager.streams.info(streamOfLane(this.#nats, 0))).state.last_seq;
  }

  /** Number of records in a message; 0 for a message with only its producer's position, or one that is gone. */
  async recordsAt(seq: number): Promise<number> {
    const manager = await this.#nats.manager();
    const stream = await manager.streams.get(streamOfLane(this.#nats, 0));
    const message = await stream.getMessage({ seq });
    return message === null ? 0 : decodeBatch(message.data).lines.length;
  }

  async delete(seq: number): Promise<void> {
    const manager = await this.#nats.manager();
    await manager.streams.deleteMessage(streamOfLane(this.#nats, 0), seq);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#nats.connection.close();
  }
}
