import { zodResolver } from "@hookform/resolvers/zod";
import { maxShareViews } from "@relicario/shared/api";
import { usePortal, type PersonRecord, type Vault } from "@relicario/shared/contract";
import { isPortalError, toPortalError } from "@relicario/shared/errors";
import { OperationProgress, Checkbox, ChoiceGroup, FieldError, TextField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  SectionTitle,
  SmallText,
  SpacedRow,
  Stack,
  useErrorMessage,
  useReleaseOpener,
} from "@relicario/shared/ui";
import { useState } from "react";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useRefetch } from "../data/sharing.ts";
import { ChoiceRow } from "../link/ChoiceRow.tsx";
import { lifetimeNames, viewChoices } from "../link/share-limits.ts";
import { useOperation } from "../vault/useOperation.ts";
import { PasswordSection } from "./PasswordSection.tsx";
import { PersonField } from "./PersonField.tsx";
import { audiences, emptyDraft, getPassword, toShareRequest, ShareDraft } from "./share-draft.ts";
import { useProblemText } from "./useProblemText.ts";

/** A share just made: what its maker hands on. */
export interface CreatedShare {
  readonly shareId: string;
  /** The whole address of a link; null for a person. */
  readonly link: string | null;
  readonly person: PersonRecord | null;
  readonly password: string | null;
}

interface ShareFormProps {
  readonly vault: Vault;
  readonly secretId: string;
  readonly onCreated: (share: CreatedShare) => void;
  /** Absent where there is nothing to go back to. */
  readonly onClose?: () => void;
}

/** Who, until when, how often, with what beside the link, and the picture that opens the secret. */
export function ShareForm({ vault, secretId, onCreated, onClose }: ShareFormProps) {
  const { t } = useTranslation("beta-share");
  const describeError = useErrorMessage();
  const translateProblem = useProblemText();
  const refetch = useRefetch();
  const portal = usePortal();
  const form = useForm<ShareDraft>({ resolver: zodResolver(ShareDraft), defaultValues: emptyDraft() });
  const { control, setValue, handleSubmit, formState } = form;
  const [audience, person, lifetime, views, otherViews, notify, opener, picture] = useWatch({
    control,
    name: ["audience", "person", "lifetime", "views", "otherViews", "notify", "opener", "picture"],
  });
  useReleaseOpener(vault, opener);
  useReleaseOpener(vault, picture);
  const [compared, setCompared] = useState(false);
  const { state, run, cancel } = useOperation();
  const busy = state.status === "running";
  const failure = state.status === "failed" ? state.error : null;
  const { errors, isSubmitted } = formState;
  const pictureFailed = isPortalError(failure, "picture_is_opener", "picture_resembles_another", "picture_too_plain");

  const setPerson = (foundPerson: PersonRecord | null) => {
    setValue("person", foundPerson, { shouldValidate: isSubmitted });
    setCompared(foundPerson?.trust === "compared");
  };
  const createShare = (draft: ShareDraft) => {
    const request = toShareRequest(draft, secretId, Date.now());
    const { opener: openerHandle } = draft;
    if (request === null || openerHandle === null) return;
    run(async (options) => {
      try {
        const createdShare = await vault.shares.create(request, openerHandle, options);
        const recipient = draft.audience === "person" ? draft.person : null;
        if (!options.signal.aborted) onCreated({ ...createdShare, person: recipient, password: getPassword(draft) });
        if (recipient !== null && compared !== (recipient.trust === "compared")) await saveCompared(recipient);
      } finally {
        void refetch();
      }
    });
  };
  /** By now the share is made: a failure here is not its failure. */
  const saveCompared = async ({ userId, userName }: PersonRecord) => {
    try {
      await vault.people.setCompared(userId, compared);
    } catch (error) {
      portal.notify({
        tone: "error",
        text: t("create.compared_error", { name: userName, why: describeError(toPortalError(error)) }),
      });
    }
  };

  return (
    <FormProvider {...form}>
      <form onSubmit={(event) => void handleSubmit(createShare)(event)} noValidate>
        <Card aria-labelledby="share-form">
          <Stack $gap={6}>
            <SectionTitle id="share-form">{t("create.title")}</SectionTitle>
            <ChoiceGroup
              legend={t("create.who_label")}
              name="share-audience"
              disabled={busy}
              choices={audiences.map((value) => ({
                value,
                label: t(`create.who_${value}_label`),
                hint: t(`create.who_${value}_hint`),
              }))}
              value={audience}
              onChange={(value) => {
                setValue("audience", value);
              }}
            />
            {audience === "person" && (
              <PersonField
                vault={vault}
                value={person}
                disabled={busy}
                error={translateProblem(errors.person?.message)}
                compared={compared}
                onComparedChange={setCompared}
                onChange={setPerson}
                onUseLink={() => {
                  setPerson(null);
                  setValue("audience", "signed_in");
                }}
              />
            )}
            <ChoiceRow
              legend={t("create.lifetime_label")}
              disabled={busy}
              choices={lifetimeNames.map((value) => ({ value, label: t(`create.lifetime_${value}_label`) }))}
              value={lifetime}
              onChange={(value) => {
                setValue("lifetime", value);
              }}
            />
            <Stack $gap={3}>
              <ChoiceRow
                legend={t("create.views_label")}
                disabled={busy}
                choices={viewChoices.map((value) => ({ value, label: t(`create.views_${value}_label`) }))}
                value={views}
                onChange={(value) => {
                  setValue("views", value, { shouldValidate: isSubmitted });
                }}
              />
              {views === "other" && (
                <TextField
                  label={t("create.other_views_label", { most: maxShareViews })}
                  inputMode="numeric"
                  autoComplete="off"
                  disabled={busy}
                  error={translateProblem(errors.otherViews?.message)}
                  value={otherViews}
                  onChange={(event) => {
                    setValue("otherViews", event.target.value, { shouldValidate: isSubmitted });
                  }}
                />
              )}
            </Stack>
            {audience !== "person" && (
              <PasswordSection
                vault={vault}
                disabled={busy}
                pictureError={pictureFailed ? describeError(failure) : null}
              />
            )}
            <Checkbox
              label={t("create.notify_label")}
              checked={notify}
              disabled={busy}
              onChange={(event) => {
                setValue("notify", event.target.checked);
              }}
            />
            <Stack $gap={3} role="group" aria-label={t("create.opener_aria")}>
              <SmallText>{t("create.opener_body")}</SmallText>
              <vault.PictureField
                purpose="show"
                value={opener}
                disabled={busy}
                onChange={(value) => {
                  setValue("opener", value, { shouldValidate: isSubmitted });
                }}
              />
              {errors.opener !== undefined && <FieldError>{translateProblem(errors.opener.message)}</FieldError>}
            </Stack>
            {state.status === "running" && <OperationProgress progress={state.progress} initialPhase="picture" />}
            {!pictureFailed && <ErrorNotice error={failure} />}
            <SmallText>{t("create.promise_body")}</SmallText>
            <SpacedRow>
              <Button type="submit" size="large" pending={busy}>
                {t(audience === "person" ? "create.person_action" : "create.link_action")}
              </Button>
              {busy ? (
                <Button tone="quiet" size="large" onClick={cancel}>
                  {t("opener.cancel_action")}
                </Button>
              ) : (
                onClose !== undefined && (
                  <Button tone="quiet" size="large" onClick={onClose}>
                    {t("opener.cancel_action")}
                  </Button>
                )
              )}
            </SpacedRow>
          </Stack>
        </Card>
      </form>
    </FormProvider>
  );
}
