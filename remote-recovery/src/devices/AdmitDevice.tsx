import { usePortal, type ApprovedDevice, type RequestingDevice, type Vault } from "@relicario/shared/contract";
import {
  Button,
  ButtonLink,
  Card,
  markVerbatim,
  Muted,
  Notice,
  renderVerbatim,
  s,
  SectionTitle,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { OpenerOperationForm } from "../openers/OpenerOperationForm.tsx";
import { DeviceCodeStep } from "./DeviceCodeStep.tsx";

type Step =
  | { readonly status: "warning"; readonly refocus: boolean }
  | { readonly status: "code" }
  | { readonly status: "showing"; readonly code: string; readonly requestingDevice: RequestingDevice }
  | { readonly status: "done"; readonly name: string; readonly admission: ApprovedDevice };

/** Admits a new device from this one: warning, the new device's code, an opener, and the result. */
export function AdmitDevice({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("devices");
  const { onLock } = usePortal();
  const [step, setStep] = useState<Step>({ status: "warning", refocus: false });
  const restart = () => {
    setStep({ status: "warning", refocus: true });
  };
  useEffect(
    () =>
      onLock(() => {
        setStep({ status: "warning", refocus: false });
      }),
    [onLock],
  );
  switch (step.status) {
    case "warning":
      return (
        <Card aria-labelledby="at-hand-warning">
          <Stack $gap={4}>
            <Warning ref={step.refocus ? focusOnMount : null} tabIndex={-1} id="at-hand-warning">
              {t("at_hand.warning_title")}
            </Warning>
            <p>{t("at_hand.warning_body")}</p>
            <Muted>{t("at_hand.where_body")}</Muted>
            <SpacedRow>
              <Button
                onClick={() => {
                  setStep({ status: "code" });
                }}
              >
                {t("at_hand.mine_action")}
              </Button>
              <ButtonLink tone="quiet" to="/openers">
                {t("at_hand.leave_action")}
              </ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
      );
    case "code":
      return (
        <DeviceCodeStep
          vault={vault}
          onFound={(code, requestingDevice) => {
            setStep({ status: "showing", code, requestingDevice });
          }}
          onCancel={restart}
        />
      );
    case "showing": {
      const { code, requestingDevice } = step;
      return (
        <Card aria-labelledby="at-hand-show">
          <Stack $gap={4}>
            <SectionTitle ref={focusOnMount} tabIndex={-1} id="at-hand-show">
              {renderVerbatim(t("show.title", { name: markVerbatim(requestingDevice.name) }))}
            </SectionTitle>
            <Notice tone="warn">{t("show.opens_body", { count: requestingDevice.secretCount })}</Notice>
            <Muted>{t("show.body")}</Muted>
            <OpenerOperationForm
              vault={vault}
              label={t("show.show_action")}
              runOperation={(openerHandle, options) => vault.deviceLinks.approve(code, openerHandle, options)}
              onDone={(admission) => {
                setStep({ status: "done", name: requestingDevice.name, admission });
              }}
              onCancel={restart}
            />
          </Stack>
        </Card>
      );
    }
    case "done":
      return <AdmissionResult name={step.name} admission={step.admission} onRestart={restart} />;
    default:
      return step satisfies never;
  }
}

function AdmissionResult({
  name,
  admission: { resealedCount, skippedIds, notified },
  onRestart,
}: {
  readonly name: string;
  readonly admission: ApprovedDevice;
  readonly onRestart: () => void;
}) {
  const { t } = useTranslation("devices");
  return (
    <Card aria-labelledby="at-hand-done">
      <Stack $gap={4}>
        <SectionTitle ref={focusOnMount} tabIndex={-1} id="at-hand-done">
          {t("done.title")}
        </SectionTitle>
        <Notice tone="success" role="status">
          {renderVerbatim(t("done.body", { name: markVerbatim(name), count: resealedCount }))}
        </Notice>
        {skippedIds.length > 0 && <Notice tone="warn">{t("done.left_body", { count: skippedIds.length })}</Notice>}
        {!notified && <Notice tone="warn">{t("done.late_body")}</Notice>}
        <SpacedRow>
          <ButtonLink to="/openers">{t("done.openers_action")}</ButtonLink>
          <Button tone="quiet" onClick={onRestart}>
            {t("done.again_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

const Warning = styled.h2`
  color: ${s("dangerText")};
  font-size: ${s("textDisplay")};
  line-height: 1.25;
`;
