import { toPortalError } from "@relicario/shared/errors";
import { Card, s, Skeleton, SmallText, space } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useHost } from "../context/host-context.ts";
import { checkHealth, healthNames, type HealthFailure, type HealthName } from "./health.ts";

/** Result of a check; `failure` is undefined until the first response. */
interface HealthRow {
  readonly name: HealthName;
  readonly failure: HealthFailure | undefined;
}

export interface HealthReport {
  readonly rows: readonly HealthRow[];
  readonly isChecking: boolean;
  readonly recheck: () => void;
}

/** Runs all checks when mounted, and again on request. */
export function useHealth(): HealthReport {
  const checks = {
    portal: useHealthCheck("portal"),
    service: useHealthCheck("service"),
    identity: useHealthCheck("identity"),
    trust: useHealthCheck("trust"),
  } satisfies Record<HealthName, unknown>;
  return {
    rows: healthNames.map((name) => ({ name, failure: checks[name].data })),
    isChecking: healthNames.some((name) => checks[name].isFetching),
    recheck: () => {
      for (const name of healthNames) void checks[name].refetch();
    },
  };
}

function useHealthCheck(name: HealthName) {
  const { session, verifiedDeployment } = useHost();
  const { authority } = verifiedDeployment.deployment.identity;
  return useQuery({
    queryKey: ["health", name],
    queryFn: async (): Promise<HealthFailure> => {
      try {
        await checkHealth(name, {
          origin: window.location.origin,
          authority,
          publicHttp: session.publicHttp,
          fetch: window.fetch.bind(window),
        });
        return null;
      } catch (error) {
        return toPortalError(error).code;
      }
    },
    staleTime: 0,
    gcTime: 0, // an old result says nothing about now
    retry: false,
  });
}

export function HealthList({ rows }: Pick<HealthReport, "rows">) {
  const { t } = useTranslation(["header", "errors"]);
  return (
    <Card as="div">
      <List>
        {rows.map(({ name, failure }) => (
          <Row key={name} data-health={failure === undefined ? "asking" : failure === null ? "works" : "down"}>
            {failure === undefined ? (
              <Dot aria-hidden />
            ) : failure === null ? (
              <CircleCheck aria-hidden />
            ) : (
              <CircleAlert aria-hidden />
            )}
            <div>
              <strong>{t(`header:status.${name}.title`)}</strong>
              {failure === undefined ? (
                <Skeleton height="1.3em" width="14rem" />
              ) : (
                <SmallText>
                  {failure === null ? t(`header:status.${name}.works_body`) : t(`header:status.${name}.down_body`)}
                </SmallText>
              )}
              {failure !== undefined && failure !== null && (
                <SmallText>{t(`header:status.reason.${classifyReason(failure)}`)}</SmallText>
              )}
            </div>
          </Row>
        ))}
      </List>
    </Card>
  );
}

/** Groups error codes by what a person can do about them. */
function classifyReason(failure: Exclude<HealthFailure, null>): "offline" | "late" | "silent" | "wrong" {
  if (failure === "offline") return "offline";
  if (failure === "timed_out") return "late";
  return failure === "service_unavailable" || failure === "internal_error" ? "silent" : "wrong";
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(5)};
`;

const Row = styled.li`
  display: flex;
  align-items: flex-start;
  gap: ${space(3)};
  text-align: left;
  & > svg {
    flex: none;
    width: 22px;
    height: 22px;
    margin-top: 1px;
  }
  & > div {
    display: flex;
    flex-direction: column;
    gap: ${space(1)};
    min-width: 0;
  }
  & strong {
    font-weight: 600;
  }
  &[data-health="works"] > svg {
    color: ${s("successText")};
  }
  &[data-health="down"] > svg {
    color: ${s("dangerText")};
  }
`;

const Dot = styled.span`
  flex: none;
  width: 22px;
  height: 22px;
  border: 2px solid ${s("border")};
  border-radius: 50%;
`;
