import { depths, s, space, VisuallyHidden } from "@relicario/shared/ui";
import { LogOut } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "react-router-dom";
import { css, styled } from "styled-components";

import { frameSizes } from "../popups/frame-sizes.ts";
import { destinations, isCurrent } from "../routes/navigation.ts";
import { usePrefetch } from "../context/prefetch.ts";

/** Bottom bar of small screens: home, secrets, add (in the middle), shared with me, sign out. */
export function MobileBar({ onLogout }: { readonly onLogout: () => void }) {
  const { t } = useTranslation("beta-sidebar");
  const { pathname } = useLocation();
  const prefetch = usePrefetch();
  const barDestinations = (["home", "secrets", "add", "received"] as const).flatMap((name) =>
    destinations.filter((destination) => destination.name === name),
  );
  return (
    <Bar aria-label={t("navigation_aria")}>
      <List>
        {barDestinations.map((destination) => {
          const Icon = destination.icon;
          const isMiddle = destination.name === "add";
          return (
            <li key={destination.name}>
              <BarLink
                to={destination.path}
                data-middle={isMiddle}
                data-tour={`mobile-${destination.name}`}
                aria-current={isCurrent(destination, pathname) ? "page" : undefined}
                onFocus={() => prefetch(destination.path)}
                onPointerDown={() => prefetch(destination.path)}
              >
                {isMiddle ? (
                  <Middle>
                    <Icon aria-hidden />
                  </Middle>
                ) : (
                  <Icon aria-hidden />
                )}
                {isMiddle ? (
                  <VisuallyHidden>{t(`destination.${destination.name}`)}</VisuallyHidden>
                ) : (
                  <Text>{t(`destination.${destination.name}`)}</Text>
                )}
              </BarLink>
            </li>
          );
        })}
        <li>
          <BarButton type="button" onClick={onLogout} data-tour="mobile-logout">
            <LogOut aria-hidden />
            <Text>{t("logout_action")}</Text>
          </BarButton>
        </li>
      </List>
    </Bar>
  );
}

const Bar = styled.nav`
  position: fixed;
  inset: auto 0 0;
  z-index: ${depths.frame};
  border-top: 1px solid ${s("border")};
  background: ${s("surface")};
  padding-bottom: env(safe-area-inset-bottom);
`;

const List = styled.ul`
  display: grid;
  grid-template-columns: repeat(5, 1fr);
  height: ${frameSizes.mobileBar}px;
  & > li {
    display: grid;
    min-width: 0;
  }
`;

const barItemStyles = css`
  display: flex;
  flex-direction: column;
  align-items: center;
  gap: 2px;
  min-width: 0;
  padding: ${space(2)} 2px 0; /* top only: icons stay aligned when a label wraps */
  border-radius: ${s("radius")};
  border: 0;
  background: none;
  color: ${s("textMuted")};
  font-size: 0.65rem;
  font-weight: 550;
  text-decoration: none;
  cursor: pointer;
  & svg {
    width: 22px;
    height: 22px;
  }
  &[aria-current="page"] {
    color: ${s("accentText")};
  }
`;

const BarLink = styled(Link)`
  ${barItemStyles}
`;

const BarButton = styled.button`
  ${barItemStyles}
`;

const Middle = styled.span`
  flex: none;
  display: grid;
  place-items: center;
  width: 48px;
  height: 48px;
  border-radius: ${s("radiusRound")};
  background: ${s("accent")};
  color: ${s("onAccent")};
  box-shadow: ${s("shadow")};
`;

const Text = styled.span`
  max-width: 100%;
  line-height: 1.15;
  text-align: center;
  overflow-wrap: anywhere;
`;
