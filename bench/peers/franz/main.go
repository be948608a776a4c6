// The same with franz-go and its defaults: franz HOST:PORT TOPIC PARTITIONS; without arguments it
// says which franz-go it is.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

type checksum struct{ sum, count uint64 }

func (c *checksum) mix(value uint64) {
	c.sum = (c.sum ^ value) * 0x9e3779b97f4a7c15
}

func (c *checksum) add(r *kgo.Record) {
	c.mix(uint64(r.Offset))
	c.mix(uint64(r.Timestamp.UnixMilli()))
	c.mix(uint64(len(r.Key)))
	c.mix(uint64(len(r.Value)))
	if len(r.Value) > 0 {
		c.mix(uint64(r.Value[0]))
	} else {
		c.mix(0)
	}
	c.count++
}

func version() {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/twmb/franz-go" {
			fmt.Println("franz-go", module.Version)
		}
	}
}

// Control records are kept, for the end of a log is one, and no other sign of it is handed out.
func open(server, topic string, partitions int) (*kgo.Client, error) {
	offsets := map[int32]kgo.Offset{}
	for i := range partitions {
		offsets[int32(i)] = kgo.NewOffset().AtStart()
	}
	options := []kgo.Opt{kgo.SeedBrokers(server), kgo.KeepControlRecords(),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: offsets})}
	if file := os.Getenv("BENCH_CA"); file != "" {
		authority, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		authorities := x509.NewCertPool()
		authorities.AppendCertsFromPEM(authority)
		options = append(options, kgo.DialTLSConfig(&tls.Config{RootCAs: authorities}))
	}
	return kgo.NewClient(options...)
}

func read(client *kgo.Client, partitions []checksum) {
	for ended := 0; ended < len(partitions); {
		fetches := client.PollFetches(context.Background())
		fetches.EachError(func(_ string, _ int32, err error) { panic(err) })
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			c := &partitions[p.Partition]
			for _, r := range p.Records {
				if !r.Attrs.IsControl() {
					c.add(r)
				}
			}
			if n := len(p.Records); n > 0 && p.Records[n-1].Offset+1 >= p.LastStableOffset {
				ended++
			}
		})
	}
}

func main() {
	if len(os.Args) != 4 {
		version()
		return
	}
	count, _ := strconv.Atoi(os.Args[3])
	client, err := open(os.Args[1], os.Args[2], count)
	if err != nil {
		panic(err)
	}
	partitions := make([]checksum, count)
	read(client, partitions)
	var all checksum
	for _, c := range partitions {
		all.sum ^= c.sum
		all.count += c.count
	}
	fmt.Printf("%d records, checksum %016x\n", all.count, all.sum)
	client.Close()
}
