import { languages } from "@relicario/shared/contract";
import { Tooltip } from "@relicario/shared/ui";
import { LogIn, LogOut, MessageSquare, Moon, Sun, type LucideIcon } from "lucide-react";
import { useSyncExternalStore, type ReactElement } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "react-router-dom";
import { styled } from "styled-components";

import { useHost } from "../context/host-context.ts";
import { useLanguage } from "../settings/language.ts";
import { Flag } from "./Flag.tsx";
import { frameSizes } from "../popups/frame-sizes.ts";
import { EntryButton, entryStyles, EntryText } from "./styles.ts";
import { isCurrent, type Destination } from "../routes/navigation.ts";
import { usePrefetch } from "../context/prefetch.ts";
import { useCurrentRoute } from "../context/use-current-route.ts";

interface CompactProps {
  /** Shows only the icon, with a tooltip. */
  readonly compact?: boolean;
}

/** An entry of the navigation. Prefetches its remote on hover and focus. */
export function DestinationEntry({
  destination,
  compact = false,
  onNavigate,
}: CompactProps & { readonly destination: Destination; readonly onNavigate?: () => void }) {
  const { t } = useTranslation("beta-sidebar");
  const { pathname } = useLocation();
  const prefetch = usePrefetch();
  const label = t(`destination.${destination.name}`);
  const Icon: LucideIcon = destination.icon;
  const handlePrefetch = () => {
    prefetch(destination.path);
  };
  return (
    <WithTooltip compact={compact} label={label}>
      <EntryLink
        to={destination.path}
        aria-label={compact ? label : undefined}
        aria-current={isCurrent(destination, pathname) ? "page" : undefined}
        data-tour={`layout-${destination.name}`}
        onPointerEnter={handlePrefetch}
        onFocus={handlePrefetch}
        onClick={onNavigate}
      >
        <Icon aria-hidden />
        {!compact && <EntryText>{label}</EntryText>}
      </EntryLink>
    </WithTooltip>
  );
}

/**
 * Opens the feedback form. Passes the screen's route pattern, so that no id in the address is sent.
 */
export function FeedbackEntry({ compact = false, onNavigate }: CompactProps & { readonly onNavigate?: () => void }) {
  const { t } = useTranslation("beta-sidebar");
  const screen = useCurrentRoute()?.path;
  const label = t("feedback_action");
  return (
    <WithTooltip compact={compact} label={label}>
      <EntryLink
        to="/settings/feedback"
        state={{ screen }}
        aria-label={compact ? label : undefined}
        onClick={onNavigate}
      >
        <MessageSquare aria-hidden />
        {!compact && <EntryText>{label}</EntryText>}
      </EntryLink>
    </WithTooltip>
  );
}

export function LanguageEntry({ compact = false }: CompactProps) {
  const { t } = useTranslation("language");
  const { changeLanguage } = useHost();
  const language = useLanguage();
  const otherLanguage = languages.find((candidate) => candidate !== language) ?? language;
  const action = t("switch_action");
  return (
    <WithTooltip compact={compact} label={action}>
      <EntryButton
        type="button"
        aria-label={compact ? action : `${t(`name.${language}`)}. ${action}`}
        data-tour="layout-language"
        onClick={() => void changeLanguage(otherLanguage)}
      >
        <Flag language={language} />
        {!compact && <EntryText>{t(`name.${language}`)}</EntryText>}
      </EntryButton>
    </WithTooltip>
  );
}

export function ThemeEntry({ compact = false }: CompactProps) {
  const { t } = useTranslation("beta-sidebar");
  const { theme } = useHost();
  const dark = useSyncExternalStore(theme.subscribe, theme.getState) === "dark";
  const action = t(dark ? "theme.light_action" : "theme.dark_action");
  const Icon = dark ? Sun : Moon;
  return (
    <WithTooltip compact={compact} label={action}>
      <EntryButton
        type="button"
        aria-label={compact ? action : undefined}
        data-tour="layout-theme"
        onClick={theme.toggle}
      >
        <Icon aria-hidden />
        {!compact && <EntryText>{action}</EntryText>}
      </EntryButton>
    </WithTooltip>
  );
}

/** Asks to log out; names the person who is signed in. */
export function LogoutEntry({
  userName,
  onLogout,
  compact = false,
}: CompactProps & { readonly userName: string; readonly onLogout: () => void }) {
  const { t } = useTranslation("beta-sidebar");
  const action = t("logout_action");
  return (
    <WithTooltip compact={compact} label={action}>
      <EntryButton type="button" aria-label={compact ? action : undefined} data-tour="layout-logout" onClick={onLogout}>
        <LogOut aria-hidden />
        {!compact && (
          <TwoLines>
            <EntryText>{action}</EntryText>
            {userName !== "" && (
              <UserName title={userName} translate="no">
                {userName}
              </UserName>
            )}
          </TwoLines>
        )}
      </EntryButton>
    </WithTooltip>
  );
}

/** Replaces `LogoutEntry` for a visitor of a shared link. */
export function LoginEntry({ onLogin, compact = false }: CompactProps & { readonly onLogin: () => void }) {
  const { t } = useTranslation("beta-sidebar");
  const action = t("login_action");
  return (
    <WithTooltip compact={compact} label={action}>
      <EntryButton type="button" aria-label={compact ? action : undefined} onClick={onLogin}>
        <LogIn aria-hidden />
        {!compact && <EntryText>{action}</EntryText>}
      </EntryButton>
    </WithTooltip>
  );
}

/**
 * Adds a tooltip while only icons are shown. The child stays mounted and keeps the focus when
 * `compact` changes.
 */
export function WithTooltip({
  compact = false,
  label,
  children,
}: CompactProps & { readonly label: string; readonly children: ReactElement }) {
  return (
    <Tooltip text={label} side="right" disabled={!compact}>
      {children}
    </Tooltip>
  );
}

const EntryLink = styled(Link)`
  ${entryStyles}
`;

const TwoLines = styled.span`
  display: flex;
  flex-direction: column;
  min-width: 0;
  line-height: 1.3;
`;

const UserName = styled.span`
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
  max-width: ${frameSizes.userName}px;
  font-size: 0.75rem;
  font-weight: 450;
`;
