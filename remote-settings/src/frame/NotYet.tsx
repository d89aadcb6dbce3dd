import { EmptyState } from "@relicario/shared/ui";
import { Hourglass } from "lucide-react";
import { useTranslation } from "react-i18next";

interface NotYetProps {
  readonly text: "notifications" | "billing" | "payments" | "delete";
}

/** Says honestly what this release does not do. */
export function NotYet({ text }: NotYetProps) {
  const { t } = useTranslation("settings");
  return (
    <EmptyState icon={<Hourglass />} title={t(`${text}.not_yet_title`)}>
      <p>{t(`${text}.not_yet_body`)}</p>
    </EmptyState>
  );
}
