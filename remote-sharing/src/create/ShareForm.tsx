import { zodResolver } from "@hookform/resolvers/zod";
import { maxShareViews } from "@relicario/shared/api";
import { usePortal, type PersonRecord, type Vault } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import { Checkbox, ChoiceGroup, OpenerPrompt, TextField, useVaultOperation } from "@relicario/shared/forms";
import {
  Card,
  markVerbatim,
  SectionTitle,
  SmallText,
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
import { PasswordSection } from "./PasswordSection.tsx";
import { PersonField } from "./PersonField.tsx";
import { audiences, emptyDraft, getPassword, toShareRequest, ShareDraft } from "./share-draft.ts";
import { useProblemText } from "./useProblemText.ts";

/** A new share, for its owner to pass on. */
export interface CreatedShare {
  readonly shareId: string;
  /** URL with the link's key; null for a share for a person. */
  readonly link: string | null;
  readonly person: PersonRecord | null;
  readonly password: string | null;
}

interface ShareFormProps {
  readonly vault: Vault;
  readonly secretId: string;
  readonly onCreated: (share: CreatedShare) => void;
  /** Omitted if there is no view to return to. */
  readonly onClose?: () => void;
}

/**
 * Form for a share: recipient, expiry, number of views, password and picture, and the opener that
 * opens the secret.
 */
export function ShareForm({ vault, secretId, onCreated, onClose }: ShareFormProps) {
  const { t } = useTranslation("beta-share");
  const describeError = useErrorMessage();
  const translateProblem = useProblemText();
  const refetch = useRefetch();
  const portal = usePortal();
  const form = useForm<ShareDraft>({ resolver: zodResolver(ShareDraft), defaultValues: emptyDraft() });
  const { control, setValue, handleSubmit, formState } = form;
  const [audience, person, lifetime, views, otherViews, notify, picture] = useWatch({
    control,
    name: ["audience", "person", "lifetime", "views", "otherViews", "notify", "picture"],
  });
  useReleaseOpener(vault, picture);
  const [compared, setCompared] = useState(false);
  const operation = useVaultOperation({ vault, asksOpener: true, keepOpen: vault.keepOpen });
  const { running: busy, error: failure } = operation;
  const { errors, isSubmitted } = formState;
  const pictureFailed = isPortalError(failure, "picture_is_opener", "picture_resembles_another", "picture_too_plain");

  const setPerson = (foundPerson: PersonRecord | null) => {
    setValue("person", foundPerson, { shouldValidate: isSubmitted });
    setCompared(foundPerson?.trust === "compared");
  };
  const createShare = (draft: ShareDraft) => {
    const recipient = draft.audience === "person" ? draft.person : null;
    const saveComparedIfChanged = () => {
      if (recipient !== null && compared !== (recipient.trust === "compared")) void saveCompared(recipient);
    };
    operation.start({
      run: async (options, opener) => {
        const request = toShareRequest(draft, secretId, Date.now());
        if (request === null) throw new PortalError("validation_error"); // the form submits no such draft
        return vault.shares.create(request, opener, options);
      },
      onDone: (createdShare) => {
        onCreated({ ...createdShare, person: recipient, password: getPassword(draft) });
        saveComparedIfChanged();
      },
      onLateResult: saveComparedIfChanged,
      onSettled: () => void refetch(),
    });
  };
  /** Reports a missing opener together with the field errors. */
  const handleInvalid = () => {
    if (operation.asksOpener && operation.opener === null) operation.resume();
  };
  /**
   * Saves that the safety words were compared. The share exists by then, so a failure is reported
   * separately.
   */
  const saveCompared = async ({ userId, userName }: PersonRecord) => {
    try {
      await vault.people.setCompared(userId, compared);
    } catch (error) {
      portal.notify({
        tone: "error",
        text: t("create.compared_error", { name: markVerbatim(userName), why: describeError(toPortalError(error)) }),
      });
    }
  };

  return (
    <FormProvider {...form}>
      <form onSubmit={(event) => void handleSubmit(createShare, handleInvalid)(event)} noValidate>
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
              <OpenerPrompt
                vault={vault}
                operation={operation}
                type="submit"
                size="large"
                label={t(audience === "person" ? "create.person_action" : "create.link_action")}
                failure={pictureFailed ? null : undefined}
                {...(onClose === undefined ? {} : { onClose })}
              >
                <SmallText>{t("create.promise_body")}</SmallText>
              </OpenerPrompt>
            </Stack>
          </Stack>
        </Card>
      </form>
    </FormProvider>
  );
}
