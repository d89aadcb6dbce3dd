import { encodeQR } from "qr";

/** Modules around a QR code that stay white (ISO/IEC 18004, 9.1). */
const border = 4;

interface QrCodeProps {
  readonly text: string;
  /** What it is, for who cannot see it. */
  readonly label: string;
}

/** A QR code in black on the paper's white, at error correction level M. */
export function QrCode({ text, label }: QrCodeProps) {
  const rows = encodeQR(text, "raw", { ecc: "medium", border });
  const darkModules = rows.flatMap((row, y) =>
    row.flatMap((module, x) => (module ? [`M${String(x)} ${String(y)}h1v1h-1z`] : [])),
  );
  return (
    <svg
      viewBox={`0 0 ${String(rows.length)} ${String(rows.length)}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <path d={darkModules.join("")} fill="#000" />
    </svg>
  );
}
