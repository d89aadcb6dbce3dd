import { Muted, space } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { HealthList, useHealth } from "./HealthList.tsx";

/**
 * Shown beside a failure: lists what does not answer. Nothing when all checks succeed, since the
 * failure then has another reason.
 */
export function DownServices() {
  const { t } = useTranslation("header");
  const { rows } = useHealth();
  const downRows = rows.filter(({ health }) => health !== undefined && health !== null);
  if (downRows.length === 0) return null;
  return (
    <Container role="status">
      <Muted>{t("status.lead")}</Muted>
      <HealthList rows={rows} />
    </Container>
  );
}

const Container = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  width: min(100%, 480px);
  margin-top: ${space(6)};
`;
