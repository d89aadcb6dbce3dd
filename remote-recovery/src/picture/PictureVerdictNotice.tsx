import { markVerbatim, Notice, type NoticeTone, renderVerbatim } from "@relicario/shared/ui";
import type { PictureVerdict } from "@relicario/vault/element";
import { useTranslation } from "react-i18next";

interface PictureVerdictNoticeProps {
  readonly verdict: PictureVerdict;
}

const knownReasons = [
  "too_small",
  "too_large",
  "coverage",
  "spread",
  "median",
  "tenth",
  "estimate",
  "drawn",
  "self_test",
  "copy_bright",
  "copy_small",
  "transparent",
] as const;
/** Reasons for a picture that has enough detail but some copies of which do not open. */
const copyReasons: readonly string[] = [
  "self_test",
  "copy_bright",
  "copy_small",
  "transparent",
] satisfies readonly KnownReason[];
type KnownReason = (typeof knownReasons)[number];

const tones = { green: "success", amber: "warn", red: "danger" } as const satisfies Record<
  PictureVerdict["level"],
  NoticeTone
>;

/** Shows the verdict on a picture: its quality, and whether the account already uses it. */
export function PictureVerdictNotice({ verdict }: PictureVerdictNoticeProps) {
  const { t } = useTranslation("provide-image");
  switch (verdict.known?.kind) {
    case "same":
      return (
        <Notice tone="success" role="status" title={t("verdict.same_title")}>
          {renderVerbatim(
            t(`verdict.same_${verdict.known.passphrase}_body`, { name: markVerbatim(verdict.known.image.name) }),
          )}
        </Notice>
      );
    case "removed":
      return (
        <Notice role="status" title={t("verdict.removed_title")}>
          {t("verdict.removed_body")}
        </Notice>
      );
    case "resembles":
      return (
        <Notice tone="danger" role="alert" title={t("verdict.resembles_title")}>
          {t("verdict.resembles_body")}
        </Notice>
      );
    case undefined:
      break;
  }
  const reasons = knownReasons.filter((reason) => verdict.reasons.includes(reason));
  const copiesOnly = reasons.length > 0 && reasons.every((reason) => copyReasons.includes(reason));
  return (
    <Notice
      tone={tones[verdict.level]}
      role={verdict.level === "red" ? "alert" : "status"}
      title={t(`verdict.${verdict.level}_title`)}
    >
      <p>
        {t(
          copiesOnly && verdict.level !== "green"
            ? `verdict.${verdict.level}_copies_body`
            : `verdict.${verdict.level}_body`,
        )}
      </p>
      {reasons.length > 0 && (
        <ul>
          {mergeReasons(reasons).map((reason) => (
            <li key={reason}>{t(`reason.${reason}`)}</li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

/** Shows `median` and `tenth` as one reason: both mean too little fine contrast. */
function mergeReasons(reasons: readonly KnownReason[]): readonly Exclude<KnownReason, "tenth">[] {
  return [...new Set(reasons.map((reason) => (reason === "tenth" ? "median" : reason)))];
}
