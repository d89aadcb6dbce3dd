import { Loading, Skeleton, space } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { keyframes, styled } from "styled-components";

/**
 * Placeholder of a loading page. Appears after 200 ms, so that it does not flash before a fast
 * page.
 */
export function AreaLoading() {
  const { t } = useTranslation("common");
  return (
    <Container>
      <Loading label={t("page.loading_status")}>
        <Bars>
          <Skeleton width="45%" height="40px" />
          <Skeleton height="20px" width="70%" />
          <Skeleton height="160px" />
          <Skeleton height="160px" />
        </Bars>
      </Loading>
    </Container>
  );
}

const appear = keyframes`
  from { opacity: 0; }
`;

const Container = styled.div`
  max-width: 720px;
  margin: 0 auto;
  padding: ${space(10)} ${space(6)};
  animation: ${appear} 1ms linear 200ms both;
`;

const Bars = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(5)};
`;
