import type { PasswordRefusal, PasswordRule } from "@relicario/shared/api";
import { useTranslation } from "react-i18next";

const counted = ["min_length", "max_length", "digits", "lower_case", "upper_case", "special_chars", "history"] as const;
const plain = ["not_name", "not_email", "not_common"] as const;

/**
 * Rules and refusals of the identity provider as sentences; in its own words where this product has
 * none.
 */
export function usePasswordWords() {
  const { t } = useTranslation("settings");

  const known = (name: string, value: number | undefined): string | null => {
    const withNumber = counted.find((each) => each === name);
    if (withNumber !== undefined && value !== undefined) return t(`password.rule.${withNumber}`, { count: value });
    const without = plain.find((each) => each === name);
    return without === undefined ? null : t(`password.rule.${without}`);
  };
  return {
    rule: ({ rule, value, text }: PasswordRule): string =>
      known(rule, value) ?? t("password.rule.other", { text: text ?? rule }),
    refusal: ({ reason, value, text }: PasswordRefusal): string => {
      if (reason === "wrong") return t("password.wrong_error");
      return (
        known(reason, value) ??
        (text === undefined ? t("password.refused_error") : t("password.refused_text_error", { text }))
      );
    },
  };
}
