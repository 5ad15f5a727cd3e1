package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"sandglass/kaggle"
)

func (s *Sandbox) listCompetitions(c *call, req *kaggle.ListCompetitionsRequest) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*competition
	for _, k := range s.st.Competitions {
		switch strings.TrimPrefix(req.Group, "COMPETITION_LIST_TAB_") {
		case "ENTERED":
			if !k.Entered {
				continue
			}
		case "HOSTED", "UNLAUNCHED", "UNLAUNCHED_COMMUNITY":
			continue
		}
		if strings.Contains(strings.ToLower(k.Title+" "+k.Slug), strings.ToLower(req.Search)) {
			found = append(found, k)
		}
	}
	slices.SortFunc(found, func(a, b *competition) int { return int(b.ID - a.ID) })
	part, next, err := numbered(found, req.Page, req.PageSize, 20, 200, req.PageToken)
	if err != nil {
		return nil, err
	}
	ans := kaggle.ListCompetitionsResponse{Competitions: []kaggle.CompetitionObject{}, NextPageToken: next}
	for _, k := range part {
		link := "https://www.kaggle.com/competitions/" + k.Slug
		ans.Competitions = append(ans.Competitions, kaggle.CompetitionObject{ID: kaggle.Int(k.ID), Ref: link, URL: link, Title: k.Title, UserHasEntered: k.Entered})
	}
	return ans, nil
}

// openCompetition finds a competition whose rules the account has accepted; 403 otherwise.
func (s *Sandbox) openCompetition(name string) (competition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.st.Competitions[strings.ToLower(name)]
	switch {
	case k == nil:
		return competition{}, refuse(404, "Competition not found")
	case !k.Entered:
		return competition{}, refuse(403, "You must accept this competition's rules before you can download its data")
	}
	return *k, nil
}

func (s *Sandbox) listDataFiles(c *call, req *kaggle.ListDataFilesRequest) (any, error) {
	k, err := s.openCompetition(req.CompetitionName)
	if err != nil {
		return nil, err
	}
	files, err := dataFiles("competition "+k.Slug, k.Slug, k.Dir)
	if err != nil {
		return nil, err
	}
	part, next, err := page(files, req.PageSize, 20, 200, req.PageToken)
	if err != nil {
		return nil, err
	}
	return kaggle.ListDataFilesResponse{Files: part, NextPageToken: next}, nil
}

// downloadDataFile serves DownloadDataFile and, without a file name, DownloadDataFiles.
func (s *Sandbox) downloadDataFile(c *call, req *kaggle.DownloadDataFileRequest) (any, error) {
	k, err := s.openCompetition(req.CompetitionName)
	if err != nil {
		return nil, err
	}
	if err := hasFile(k.Dir, req.FileName); err != nil {
		return nil, err
	}
	if req.FileName == "" {
		return redirect(s.zipURL(c.base, "competition:"+k.Slug, k.Slug)), nil
	}
	return redirect(s.dataURL(c.base, "competition:"+k.Slug, req.FileName)), nil
}

// listModels lists the models that were added by hand; there are no others.
func (s *Sandbox) listModels(c *call, req *kaggle.ListModelsRequest) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	byRef := map[string]*kaggle.ModelObject{}
	var refs []string
	for _, m := range s.st.Models {
		p := strings.Split(m.Ref, "/")
		ref := p[0] + "/" + p[1]
		if (req.Owner != "" && !strings.EqualFold(req.Owner, p[0])) || !strings.Contains(strings.ToLower(ref), strings.ToLower(req.Search)) {
			continue
		}
		if byRef[ref] == nil {
			byRef[ref] = &kaggle.ModelObject{ID: kaggle.Int(m.ID), Ref: ref, Title: p[1], Author: p[0], Slug: p[1]}
			refs = append(refs, ref)
		}
		n, _ := strconv.Atoi(p[4])
		byRef[ref].Instances = append(byRef[ref].Instances, kaggle.ModelInstance{Slug: p[3], Framework: p[2], VersionNumber: kaggle.Int(n),
			URL: "https://www.kaggle.com/models/" + m.Ref})
	}
	slices.Sort(refs)
	part, next, err := page(refs, req.PageSize, 20, 200, req.PageToken)
	if err != nil {
		return nil, err
	}
	ans := kaggle.ListModelsResponse{Models: []kaggle.ModelObject{}, NextPageToken: next, TotalResults: kaggle.Int(len(refs))}
	for _, ref := range part {
		ans.Models = append(ans.Models, *byRef[ref])
	}
	return ans, nil
}
