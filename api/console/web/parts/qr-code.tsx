import type { ReactElement } from "react";
import { encode } from "uqr";

const BORDER = 2;

/** A text for cameras, drawn as one path. */
export function QrCode({
  text,
  label,
}: {
  readonly text: string;
  readonly label: string;
}): ReactElement {
  const { data, size } = encode(text, { border: BORDER });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} className="qr-ground" />
      <path d={path} className="qr-marks" />
    </svg>
  );
}
