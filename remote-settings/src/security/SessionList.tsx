import type { OwnSession } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { getFormats } from "@relicario/shared/i18n";
import {
  Button,
  Card,
  ErrorNotice,
  Loading,
  Muted,
  s,
  SectionTitle,
  Skeleton,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { sessionsQuery, useRevokeSession } from "./sessions.ts";

export function SessionList() {
  const { t } = useTranslation("settings-security");
  const portal = usePortal();
  const sessions = useQuery(sessionsQuery(portal));
  const revokeSession = useRevokeSession();
  const otherSessions = sessions.data?.filter(({ current }) => !current) ?? [];

  const handleRevoke = async (session: OwnSession | null) => {
    const texts =
      session === null
        ? { title: t("sessions.end_all_title"), description: t("sessions.end_all_body") }
        : { title: t("sessions.end_title", { device: getDeviceName(session) }), description: t("sessions.end_body") };
    if (!(await portal.confirm({ ...texts, confirmLabel: t("sessions.confirm_action"), alert: true, danger: true })))
      return;
    revokeSession.mutate(session, {
      onSuccess: () => {
        portal.notify({
          tone: "success",
          text: t("sessions.ended_status", { count: session === null ? otherSessions.length : 1 }),
        });
      },
    });
  };
  const getDeviceName = ({ device }: OwnSession): string => device ?? t("sessions.unknown_label");

  return (
    <Card aria-labelledby="sessions">
      <Stack $gap={4}>
        <SectionTitle id="sessions">{t("sessions.title")}</SectionTitle>
        <Muted>{t("sessions.body")}</Muted>
        {sessions.isError && <ErrorNotice error={sessions.error} onRetry={() => void sessions.refetch()} />}
        {sessions.data === undefined && !sessions.isError && (
          <Loading label={t("sessions.loading_status")}>
            <Skeleton height="70px" />
          </Loading>
        )}
        <ErrorNotice error={isPortalError(revokeSession.error, "not_found") ? null : revokeSession.error} />
        {sessions.data !== undefined && (
          <List>
            {sessions.data.map((session) => (
              <SessionRow
                key={session.id}
                session={session}
                name={getDeviceName(session)}
                pending={revokeSession.isPending && revokeSession.variables?.id === session.id}
                onRevoke={() => void handleRevoke(session)}
              />
            ))}
          </List>
        )}
        {otherSessions.length > 1 && (
          <SpacedRow>
            <Button
              tone="danger"
              pending={revokeSession.isPending && revokeSession.variables === null}
              onClick={() => void handleRevoke(null)}
            >
              {t("sessions.end_all_action")}
            </Button>
          </SpacedRow>
        )}
      </Stack>
    </Card>
  );
}

interface SessionRowProps {
  readonly session: OwnSession;
  readonly name: string;
  readonly pending: boolean;
  readonly onRevoke: () => void;
}

function SessionRow({
  session: { current, address, signed_in_at: signedInAt, last_seen_at: lastSeenAt },
  name,
  pending,
  onRevoke,
}: SessionRowProps) {
  const { t } = useTranslation("settings-security");
  const { dateTime } = getFormats(usePortal().language);
  return (
    <Row>
      <div>
        <strong>{name}</strong>
        {current && <CurrentBadge>{t("sessions.current_label")}</CurrentBadge>}
        <SmallText>
          {address === null
            ? t("sessions.since_body", { when: dateTime(signedInAt) })
            : t("sessions.since_from_body", { when: dateTime(signedInAt), address })}
        </SmallText>
        {!current && <SmallText>{t("sessions.seen_body", { when: dateTime(lastSeenAt) })}</SmallText>}
      </div>
      {!current && (
        <Button
          tone="quiet"
          size="small"
          pending={pending}
          aria-label={t("sessions.end_aria", { device: name })}
          onClick={onRevoke}
        >
          {t("sessions.end_action")}
        </Button>
      )}
    </Row>
  );
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
`;

const Row = styled.li`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(3)};
  padding: ${space(3)} 0;
  border-top: 1px solid ${s("border")};
  & > div {
    flex: 1 1 14rem;
    min-width: 0;
    overflow-wrap: anywhere;
  }
`;

const CurrentBadge = styled.span`
  margin-left: ${space(2)};
  padding: 2px ${space(2)};
  border-radius: ${s("radius")};
  background: ${s("accentSoft")};
  font-size: ${s("textSmall")};
`;
