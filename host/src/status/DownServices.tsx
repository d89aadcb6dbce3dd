import { Muted, space } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { HealthList, useHealth } from "./HealthList.tsx";

/**
 * Lists the services that do not respond, next to a failure. Renders nothing when all checks
 * succeed: the failure then has another reason.
 */
export function DownServices() {
  const { t } = useTranslation("header");
  const { rows } = useHealth();
  const downRows = rows.filter(({ failure }) => failure !== undefined && failure !== null);
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
