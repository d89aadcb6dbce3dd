import { encodeQR } from "qr";
import { useMemo } from "react";
import { styled } from "styled-components";

interface QrCodeProps {
  readonly text: string;
  readonly label: string;
}

/** Quiet zone in modules (ISO/IEC 18004). */
const border = 4;

/** QR code of a text, black on white in both themes: many readers reject inverted codes. */
export function QrCode({ text, label }: QrCodeProps) {
  const { path, size } = useMemo(() => buildQrPath(text), [text]);
  return (
    <Picture role="img" aria-label={label} viewBox={`0 0 ${String(size)} ${String(size)}`} shapeRendering="crispEdges">
      <rect width="100%" height="100%" fill="white" />
      <path d={path} fill="black" />
    </Picture>
  );
}

function buildQrPath(text: string): { readonly path: string; readonly size: number } {
  const rows = encodeQR(text, "raw", { ecc: "medium", border });
  const darkModules = rows.flatMap((row, y) =>
    row.flatMap((module, x) => (module ? [`M${String(x)} ${String(y)}h1v1h-1z`] : [])),
  );
  return { path: darkModules.join(""), size: rows.length };
}

const Picture = styled.svg`
  width: min(100%, 260px);
  height: auto;
  border-radius: 8px;
`;
