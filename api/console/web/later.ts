import { type ComponentType, lazy } from "react";

/** A screen whose code is loaded when it is opened. */
export function later(load: () => Promise<ComponentType>): ComponentType {
  return lazy(async () => ({ default: await load() }));
}
