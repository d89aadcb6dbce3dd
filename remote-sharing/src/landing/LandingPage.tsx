import { pageStorage } from "@relicario/shared/contract";
import { ButtonLink, Card, media, Page, s, SmallText, space, SpacedRow } from "@relicario/shared/ui";
import { Image, LockKeyhole, UserRound } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";
import { styled } from "styled-components";

/** Local storage key: this browser has shown the landing page (specification, section 2). */
export const landingKey = "landingAlreadyVisited";

export function markLandingVisited(storage: Pick<Storage, "setItem">): void {
  try {
    storage.setItem(landingKey, "true");
  } catch {
    // Storage is full or blocked: the page is shown again on the next visit.
  }
}

const points = [
  { name: "sealed", Icon: LockKeyhole },
  { name: "picture", Icon: Image },
  { name: "account", Icon: UserRound },
] as const;

/** Route `/secret-landing`: explains the product to a first-time visitor of a link. */
export default function LandingPage() {
  const { t } = useTranslation("landing");
  const [searchParams] = useSearchParams();
  useEffect(() => {
    markLandingVisited(pageStorage.local);
  }, []);
  return (
    <Page width="wide" title={t("page.title")} lead={t("page.lead_body")}>
      <Points>
        {points.map(({ name, Icon }) => (
          <Card as="li" key={name}>
            <Icon aria-hidden />
            <h2>{t(`${name}.title`)}</h2>
            <SmallText>{t(`${name}.body`)}</SmallText>
          </Card>
        ))}
      </Points>
      <SpacedRow>
        <ButtonLink size="large" to={getReturnPath(searchParams.get("then"))}>
          {t("page.enter_action")}
        </ButtonLink>
      </SpacedRow>
    </Page>
  );
}

/** Returns the path to continue at: a path of a share for a person, or home for any other value. */
function getReturnPath(requestedPath: string | null): string {
  return requestedPath !== null && /^\/p-shared\/[\w-]{22}$/.test(requestedPath) ? requestedPath : "/home";
}

const Points = styled.ul`
  display: grid;
  grid-template-columns: repeat(3, 1fr);
  gap: ${space(4)};
  & > li {
    display: flex;
    flex-direction: column;
    gap: ${space(2)};
  }
  & > li > svg {
    color: ${s("accentText")};
  }
  & h2 {
    font-size: ${s("textBase")};
  }
  ${media.mobile} {
    grid-template-columns: 1fr;
  }
`;
