import { create } from "qrcode";
import { useMemo } from "react";
import { styled } from "styled-components";

interface QrCodeProps {
  readonly text: string;
  /** What it is, for those who do not see it. */
  readonly label: string;
}

/** Modules of white around it, as ISO/IEC 18004 asks for. */
const quietZone = 4;

/** A text as a QR code: black on white in both themes, because many readers take no inverted one. */
export function QrCode({ text, label }: QrCodeProps) {
  const { path, size } = useMemo(() => drawn(text), [text]);
  return (
    <Picture role="img" aria-label={label} viewBox={`${String(-quietZone)} ${String(-quietZone)} ${String(size + 2 * quietZone)} ${String(size + 2 * quietZone)}`} shapeRendering="crispEdges">
      <rect x={-quietZone} y={-quietZone} width="100%" height="100%" fill="white" />
      <path d={path} fill="black" />
    </Picture>
  );
}

function drawn(text: string): { readonly path: string; readonly size: number } {
  const { modules } = create(text, { errorCorrectionLevel: "M" });
  const { size } = modules;
  const rows = Array.from({ length: size }, (_, y) => Array.from({ length: size }, (__, x) => (modules.get(y, x) === 0 ? "" : `M${String(x)} ${String(y)}h1v1h-1z`)).join(""));
  return { path: rows.join(""), size };
}

const Picture = styled.svg`
  width: min(100%, 260px);
  height: auto;
  border-radius: 8px;
`;
