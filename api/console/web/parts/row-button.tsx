import type { LucideIcon } from "lucide-react";
import type { ReactElement } from "react";

/** A small button of one row, with its words for screen readers and as a hint. */
export function RowButton({
  label,
  icon: Icon,
  isOff = false,
  onPress,
}: {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly isOff?: boolean;
  readonly onPress: () => void;
}): ReactElement {
  return (
    <button
      type="button"
      className="button plain"
      aria-label={label}
      title={label}
      disabled={isOff}
      onClick={onPress}
    >
      <Icon size={14} aria-hidden />
    </button>
  );
}
