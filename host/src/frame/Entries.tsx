import { languages } from "@relicario/shared/contract";
import { Tooltip } from "@relicario/shared/ui";
import { LogIn, LogOut, MessageSquare, Moon, Sun, type LucideIcon } from "lucide-react";
import { useSyncExternalStore, type ReactElement, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "react-router-dom";
import { styled } from "styled-components";

import { useHost } from "../context/host-context.ts";
import { useLanguage } from "../settings/language.ts";
import { Flag } from "./Flag.tsx";
import { frameSizes } from "../popups/frame-sizes.ts";
import { EntryButton, entryStyles, EntryText } from "./styles.ts";
import { isCurrent, type Destination } from "../routes/navigation.ts";
import type { RemoteEntry } from "../routes/remote-entries.ts";
import { RemoteIcon } from "./RemoteIcon.tsx";
import { useEntryTitle } from "./use-remote-entries.ts";
import { usePrefetch } from "../context/prefetch.ts";
import { useCurrentRoute } from "../context/use-current-route.ts";

interface CompactProps {
  /** Shows only the icon, with a tooltip. */
  readonly compact?: boolean;
}

interface NavigableProps extends CompactProps {
  readonly onNavigate?: (() => void) | undefined;
}

export function DestinationEntry({ destination, ...props }: NavigableProps & { readonly destination: Destination }) {
  const { t } = useTranslation("beta-sidebar");
  const { pathname } = useLocation();
  const Icon: LucideIcon = destination.icon;
  return (
    <NavigationLink
      path={destination.path}
      label={t(`destination.${destination.name}`)}
      icon={<Icon aria-hidden />}
      current={isCurrent(destination, pathname)}
      tourTarget={`layout-${destination.name}`}
      {...props}
    />
  );
}

/** An entry that a remote adds. */
export function RemoteEntryLink({ entry, ...props }: NavigableProps & { readonly entry: RemoteEntry }) {
  const { pathname } = useLocation();
  return (
    <NavigationLink
      path={entry.path}
      label={useEntryTitle(entry)}
      icon={<RemoteIcon name={entry.icon} />}
      current={pathname === entry.path || pathname.startsWith(`${entry.path}/`)}
      {...props}
    />
  );
}

interface NavigationLinkProps extends NavigableProps {
  readonly path: string;
  readonly label: string;
  readonly icon: ReactNode;
  readonly current: boolean;
  /** Name by which steps of tours find the entry. */
  readonly tourTarget?: string;
}

/** Prefetches the remote of its path on hover and focus. */
function NavigationLink({ path, label, icon, current, tourTarget, compact = false, onNavigate }: NavigationLinkProps) {
  const prefetch = usePrefetch();
  const handlePrefetch = () => {
    prefetch(path);
  };
  return (
    <WithTooltip compact={compact} label={label}>
      <EntryLink
        to={path}
        aria-label={compact ? label : undefined}
        aria-current={current ? "page" : undefined}
        data-tour={tourTarget}
        onPointerEnter={handlePrefetch}
        onFocus={handlePrefetch}
        onClick={onNavigate}
      >
        {icon}
        {!compact && <EntryText>{label}</EntryText>}
      </EntryLink>
    </WithTooltip>
  );
}

/**
 * Opens the feedback form. Passes the screen's route pattern, so that no id in the address is sent.
 */
export function FeedbackEntry({ compact = false, onNavigate }: NavigableProps) {
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
