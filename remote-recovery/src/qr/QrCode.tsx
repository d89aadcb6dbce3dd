import { encodeQR } from "qr";

/** Quiet zone in modules (ISO/IEC 18004, 9.1). */
const border = 4;

interface QrCodeProps {
  readonly text: string;
  readonly label: string;
}

/** QR code of a text with error correction level M; black on white in both themes. */
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
      <rect width="100%" height="100%" fill="#fff" />
      <path d={darkModules.join("")} fill="#000" />
    </svg>
  );
}
