import { s } from "@relicario/shared/ui";
import type { ReactNode } from "react";

/**
 * Illustrations of the slides, in the vendor's colours. They are decorative: the text says the
 * same.
 */
function Illustration({ children }: { readonly children: ReactNode }) {
  return (
    <svg
      viewBox="0 0 240 200"
      aria-hidden
      focusable="false"
      fill="none"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth={4}
    >
      <ellipse cx={120} cy={178} rx={92} ry={10} fill={s("accentSoft")} />
      {children}
    </svg>
  );
}

function Photograph({
  x,
  y,
  width,
  height,
}: {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}) {
  return (
    <svg x={x} y={y} width={width} height={height} viewBox="0 0 120 90">
      <rect x={2} y={2} width={116} height={86} rx={10} fill={s("surfaceRaised")} stroke={s("accent")} />
      <circle cx={88} cy={28} r={10} fill={s("star")} stroke="none" />
      <path d="M12 78 44 38l20 24 14-14 30 30z" fill={s("accentSoft")} stroke={s("accent")} />
    </svg>
  );
}

/** A letter slides behind a picture. */
export function SealIllustration() {
  return (
    <Illustration>
      <rect
        x={86}
        y={24}
        width={108}
        height={76}
        rx={8}
        fill={s("surface")}
        stroke={s("borderStrong")}
        transform="rotate(6 140 62)"
      />
      <path d="M108 50h64M108 66h44" stroke={s("borderStrong")} transform="rotate(6 140 62)" />
      <Photograph x={40} y={62} width={140} height={105} />
    </Illustration>
  );
}

/** The picture and the keys stay inside a phone. */
export function DeviceIllustration() {
  return (
    <Illustration>
      <rect x={76} y={12} width={88} height={164} rx={16} fill={s("surfaceRaised")} stroke={s("accent")} />
      <path d="M110 26h20" stroke={s("borderStrong")} />
      <Photograph x={90} y={40} width={60} height={45} />
      <circle cx={106} cy={126} r={12} stroke={s("accent")} />
      <path d="M118 126h26m-8 0v10m8-10v7" stroke={s("accent")} />
      <path d="M44 70c-16 20-16 44 0 64M196 70c16 20 16 44 0 64" stroke={s("border")} strokeDasharray="2 10" />
    </Illustration>
  );
}

/** A copy of the picture opens a lock. */
export function RecoveryIllustration() {
  return (
    <Illustration>
      <Photograph x={24} y={70} width={84} height={63} />
      <path d="M122 102h22m-9-9 9 9-9 9" stroke={s("accent")} />
      <rect x={158} y={92} width={60} height={52} rx={8} fill={s("accentSoft")} stroke={s("accent")} />
      <path d="M170 92V78a18 18 0 0 1 35-6" stroke={s("accent")} />
      <circle cx={188} cy={118} r={6} fill={s("accent")} stroke="none" />
    </Illustration>
  );
}
