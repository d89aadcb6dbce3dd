import type { PictureVerdict } from "@relicario/shared/contract";
import { Notice, type NoticeTone } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

interface PictureVerdictNoticeProps {
  readonly verdict: PictureVerdict;
}

const knownReasons = ["too_small", "too_large", "coverage", "spread", "median", "tenth", "estimate", "self_test"] as const;
type KnownReason = (typeof knownReasons)[number];

const tones = { green: "success", amber: "warn", red: "danger" } as const satisfies Record<PictureVerdict["level"], NoticeTone>;

/** What the gate and the book say of a picture, in words. */
export function PictureVerdictNotice({ verdict }: PictureVerdictNoticeProps) {
  const { t } = useTranslation("provide-image");
  if (verdict.known !== null) {
    const name = verdict.known.image?.name;
    const same = verdict.known.kind === "same";
    return (
      <Notice tone={same ? "success" : "danger"} role={same ? "status" : "alert"} title={t(same ? "verdict.same_title" : "verdict.resembles_title")}>
        {same ? (name === undefined ? t("verdict.same_body") : t("verdict.same_named_body", { name })) : t("verdict.resembles_body")}
      </Notice>
    );
  }
  const reasons = knownReasons.filter((reason) => verdict.reasons.includes(reason));
  return (
    <Notice tone={tones[verdict.level]} role={verdict.level === "red" ? "alert" : "status"} title={t(`verdict.${verdict.level}_title`)}>
      <p>{t(`verdict.${verdict.level}_body`)}</p>
      {reasons.length > 0 && (
        <ul>
          {sentences(reasons).map((reason) => (
            <li key={reason}>{t(`reason.${reason}`)}</li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

/** Median and tenth percentile are one thing to a person: too little fine contrast. */
function sentences(reasons: readonly KnownReason[]): readonly Exclude<KnownReason, "tenth">[] {
  return [...new Set(reasons.map((reason) => (reason === "tenth" ? "median" : reason)))];
}
