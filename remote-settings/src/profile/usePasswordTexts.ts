import type { PasswordRejection, PasswordRule } from "@relicario/shared/api";
import { useTranslation } from "react-i18next";

const countedRules = [
  "min_length",
  "max_length",
  "digits",
  "lower_case",
  "upper_case",
  "special_chars",
  "history",
] as const;
const plainRules = ["not_name", "not_email", "not_common"] as const;

/**
 * Describes the identity provider's rules and rejections. Falls back to the provider's own text.
 */
export function usePasswordTexts() {
  const { t } = useTranslation("settings");

  const describeKnownRule = (name: string, value: number | undefined): string | null => {
    const countedRule = countedRules.find((candidate) => candidate === name);
    if (countedRule !== undefined && value !== undefined) return t(`password.rule.${countedRule}`, { count: value });
    const plainRule = plainRules.find((candidate) => candidate === name);
    return plainRule === undefined ? null : t(`password.rule.${plainRule}`);
  };
  return {
    describeRule: ({ rule, value, text }: PasswordRule): string =>
      describeKnownRule(rule, value) ?? t("password.rule.other", { text: text ?? rule }),
    describeRejection: ({ reason, value, text }: PasswordRejection): string => {
      if (reason === "wrong") return t("password.wrong_error");
      return (
        describeKnownRule(reason, value) ??
        (text === undefined ? t("password.refused_error") : t("password.refused_text_error", { text }))
      );
    },
  };
}
