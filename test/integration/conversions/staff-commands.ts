import type { ConversionCommand } from "../../../schemas/events/conversion-command.ts";
import type { TrackingWorld } from "./tracking-world.ts";

export type CreateCommand = Extract<ConversionCommand, { kind: "create" }>;
export type StatusCommand = Extract<ConversionCommand, { kind: "set-status" }>;

/** `POST /conversions` for an offer (`fields.offerId`) and the partner of the world, with all other fields left out. */
export function createCommand(
  world: TrackingWorld,
  fields: Partial<CreateCommand> & Pick<CreateCommand, "offerId">,
): CreateCommand {
  return {
    kind: "create",
    workspaceId: world.workspaceId,
    keyId: 1,
    nowMs: Date.now(),
    affiliateId: world.affiliateId,
    clickId: null,
    eventCode: "default",
    saleAmount: null,
    payout: null,
    revenue: null,
    currency: null,
    status: null,
    convTsMs: null,
    advTxid: null,
    notes: "",
    params: {},
    click: {},
    ...fields,
  };
}

/** `PATCH /conversions/{id}` by key 1, or `PATCH /conversions` with `bulk`. */
export function statusCommand(
  world: TrackingWorld,
  fields: Partial<StatusCommand> & Pick<StatusCommand, "ids" | "status">,
): StatusCommand {
  return {
    kind: "set-status",
    workspaceId: world.workspaceId,
    keyId: 1,
    nowMs: Date.now(),
    bulk: false,
    reason: "",
    notes: null,
    ...fields,
  };
}
