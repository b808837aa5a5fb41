import type { LucideIcon } from "lucide-react";

export type Destination = {
  readonly path: string;
  readonly title: string;
  readonly icon: LucideIcon;
};
export type NavigationGroup = {
  readonly title: string;
  readonly destinations: readonly Destination[];
};
